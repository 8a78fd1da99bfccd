import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import { MediaUpstreamsService, UpstreamsService, type UpstreamView } from '#features';
import { Route, Routes } from '../../http/route.js';
import { operatorOf } from './admin-gate.js';
import { CATALOGUE_OPERATIONS } from './admin.openapi.js';

/** The upstreams of text and of media, for operators. Changes reach every process within seconds. */
@Controller('admin/v1/upstreams')
@Routes({ style: 'admin', access: 'operator' })
export class UpstreamsController {
  constructor(
    private readonly text: UpstreamsService,
    private readonly media: MediaUpstreamsService,
  ) {}

  @Get()
  @Route({ operation: CATALOGUE_OPERATIONS.adminListUpstreams })
  async list(): Promise<object[]> {
    return [...(await this.text.list()), ...(await this.media.list())].map(toBody);
  }

  @Get(':upstream_id')
  @Route({ operation: CATALOGUE_OPERATIONS.adminReadUpstream })
  async read(@Param('upstream_id') id: string): Promise<object> {
    return toBody((await this.media.find(id)) ?? (await this.text.read(id)));
  }

  @Post()
  @Route({ operation: CATALOGUE_OPERATIONS.adminAddUpstream })
  @HttpCode(200)
  async create(@Body() body: unknown, @Req() request: Request): Promise<object> {
    const { kind = 'text', ...settings } = jsonObject(body);
    return toBody(await this.ofKind(kind).create(operatorOf(request), settings));
  }

  /** Changes it, as a JSON merge patch says; `enabled` takes it out of service and back. */
  @Patch(':upstream_id')
  @Route({ operation: CATALOGUE_OPERATIONS.adminChangeUpstream })
  async update(@Param('upstream_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<object> {
    const { kind, ...patch } = jsonObject(body);
    const upstreams = await this.owning(id);
    if (kind !== undefined && this.ofKind(kind) !== upstreams)
      throw new GatewayError('invalid_parameter', 'kind cannot be changed: create another upstream.', {
        param: 'kind',
      });
    return toBody(await upstreams.update(operatorOf(request), id, patch));
  }

  /** Takes it away; what runs on it ends as it would have. */
  @Delete(':upstream_id')
  @Route({ operation: CATALOGUE_OPERATIONS.adminRemoveUpstream })
  async remove(@Param('upstream_id') id: string, @Req() request: Request): Promise<{ id: string; deleted: true }> {
    await (await this.owning(id)).remove(operatorOf(request), id);
    return { id, deleted: true };
  }

  private async owning(id: string): Promise<UpstreamsService | MediaUpstreamsService> {
    return (await this.media.find(id)) ? this.media : this.text;
  }

  /** @throws GatewayError `invalid_parameter`. */
  private ofKind(kind: JsonValue): UpstreamsService | MediaUpstreamsService {
    if (kind === 'text') return this.text;
    if (kind === 'media') return this.media;
    throw new GatewayError('invalid_parameter', 'kind must be text or media.', { param: 'kind' });
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
