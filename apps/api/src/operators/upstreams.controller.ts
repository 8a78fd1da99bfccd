import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type AdminUpstream, GatewayError } from '#contracts';
import type { UpstreamView } from '#features';
import { Route, Routes } from '../http/route.js';
import { type TextUpstreamProof, Upstreams, upstreamSettings } from '../upstreams.js';
import { clientGone } from '../http/client-gone.js';
import { operatorOf } from './admin-gate.js';
import { CATALOGUE_OPERATIONS } from './admin.openapi.js';

/** The upstreams of text and of media, for operators. Changes reach every process within seconds. */
@Controller('admin/v1/upstreams')
@Routes({ style: 'admin', access: 'operator' })
export class UpstreamsController {
  constructor(private readonly upstreams: Upstreams) {}

  /** Each with how it does. */
  @Get()
  @Route({ operation: CATALOGUE_OPERATIONS.adminListUpstreams })
  async list(): Promise<object[]> {
    return (await this.upstreams.all()).map(withSettings);
  }

  @Get(':upstream_id')
  @Route({ operation: CATALOGUE_OPERATIONS.adminReadUpstream })
  async read(@Param('upstream_id') id: string): Promise<object> {
    return withSettings(await this.upstreams.one(id));
  }

  @Post()
  @Route({ operation: CATALOGUE_OPERATIONS.adminAddUpstream })
  @HttpCode(200)
  async create(@Body() body: unknown, @Req() request: Request): Promise<object> {
    const { kind = 'text', ...settings } = upstreamSettings(body);
    return toBody(await this.upstreams.ofKind(kind).create(operatorOf(request), settings));
  }

  /** Changes it, as a JSON merge patch says; `enabled` takes it out of service and back. */
  @Patch(':upstream_id')
  @Route({ operation: CATALOGUE_OPERATIONS.adminChangeUpstream })
  async update(@Param('upstream_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<object> {
    const { kind, ...patch } = upstreamSettings(body);
    const upstreams = await this.upstreams.owning(id);
    if (kind !== undefined && this.upstreams.ofKind(kind) !== upstreams)
      throw GatewayError.ofField('kind', 'cannot be changed: create another upstream');
    return toBody(await upstreams.update(operatorOf(request), id, patch));
  }

  /** Proves its key by a call that is free, or for text by the least reply where the vendor has none. */
  @Post(':upstream_id/verify')
  @Route({ operation: CATALOGUE_OPERATIONS.adminVerifyUpstream })
  @HttpCode(200)
  verify(@Param('upstream_id') id: string, @Res({ passthrough: true }) response: Response): Promise<TextUpstreamProof> {
    return this.upstreams.verify(id, clientGone(response));
  }

  /** Takes it away; what runs on it ends as it would have. */
  @Delete(':upstream_id')
  @Route({ operation: CATALOGUE_OPERATIONS.adminRemoveUpstream })
  async remove(@Param('upstream_id') id: string, @Req() request: Request): Promise<{ id: string; deleted: true }> {
    await (await this.upstreams.owning(id)).remove(operatorOf(request), id);
    return { id, deleted: true };
  }
}

const withSettings = ({ settings, kind: _kind, enabled: _enabled, ...known }: AdminUpstream): object => ({
  ...settings,
  ...known,
});

/** Settings beside what is known of them; they are an operator's own words, so they are shown as they are. */
const toBody = ({ id, settings, created_at, updated_at, ...rest }: UpstreamView): object => ({
  ...settings,
  id,
  ...rest,
  created_at: created_at?.toISOString() ?? null,
  updated_at: updated_at?.toISOString() ?? null,
});
