import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { GatewayError, isJsonObject, type JsonObject } from '#contracts';
import { UpstreamsService, type UpstreamView } from '#features';
import { Route, Routes } from '../../http/route.js';
import { operatorOf } from './admin-gate.js';
import { CATALOGUE_OPERATIONS } from './admin.openapi.js';

/** The upstreams of text models, for operators. Changes reach every replica within seconds. */
@Controller('admin/v1/upstreams')
@Routes({ style: 'admin', access: 'operator' })
export class UpstreamsController {
  constructor(private readonly upstreams: UpstreamsService) {}

  @Get()
  @Route({ operation: CATALOGUE_OPERATIONS.adminListUpstreams })
  async list(): Promise<object[]> {
    return (await this.upstreams.list()).map(toBody);
  }

  @Get(':upstream_id')
  @Route({ operation: CATALOGUE_OPERATIONS.adminReadUpstream })
  async read(@Param('upstream_id') id: string): Promise<object> {
    return toBody(await this.upstreams.read(id));
  }

  @Post()
  @Route({ operation: CATALOGUE_OPERATIONS.adminAddUpstream })
  @HttpCode(200)
  async create(@Body() body: unknown, @Req() request: Request): Promise<object> {
    return toBody(await this.upstreams.create(operatorOf(request), jsonObject(body)));
  }

  /** Changes it, as a JSON merge patch says; `enabled` takes it out of service and back. */
  @Patch(':upstream_id')
  @Route({ operation: CATALOGUE_OPERATIONS.adminChangeUpstream })
  async update(@Param('upstream_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<object> {
    return toBody(await this.upstreams.update(operatorOf(request), id, jsonObject(body)));
  }

  /** Takes it away; what runs on it ends as it would have. */
  @Delete(':upstream_id')
  @Route({ operation: CATALOGUE_OPERATIONS.adminRemoveUpstream })
  async remove(@Param('upstream_id') id: string, @Req() request: Request): Promise<{ id: string; deleted: true }> {
    await this.upstreams.remove(operatorOf(request), id);
    return { id, deleted: true };
  }
}

/** Settings beside what is known of them; they are an operator's own words, so they are shown as they are. */
const toBody = ({ id, settings, created_at, updated_at, ...rest }: UpstreamView): object => ({
  ...settings,
  id,
  ...rest,
  created_at: created_at?.toISOString() ?? null,
  updated_at: updated_at?.toISOString() ?? null,
});

/** The fields are checked by the definition that the file has, too. @throws GatewayError `invalid_parameter`. */
function jsonObject(body: unknown): JsonObject {
  if (isJsonObject(body)) return body as JsonObject;
  throw new GatewayError('invalid_parameter', 'The body must be a JSON object.');
}
