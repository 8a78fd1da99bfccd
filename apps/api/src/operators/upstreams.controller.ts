import { Body, Param, Req } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type AdminConversations, type AdminUpstream, type AdminUpstreamProof, GatewayError } from '#contracts';
import { ConversationReport } from '#features';
import { PageRoute } from '../console/console-routes.js';
import { rowOf } from '../console/views.js';
import { clientGone } from '../http/client-gone.js';
import { Upstreams, upstreamSettings } from '../upstreams.js';
import { CATALOGUE_OPERATIONS } from './admin.openapi.js';
import { operatorOf, OperatorRoute, OperatorRoutes } from './operator-route.js';
import { Reply } from '../http/route.js';

/** The upstreams of text and of media, each with how it does, for operators. Changes reach every process within seconds. */
@OperatorRoutes()
export class UpstreamsController {
  constructor(
    private readonly upstreams: Upstreams,
    private readonly conversations: ConversationReport,
  ) {}

  @OperatorRoute('GET /upstreams', CATALOGUE_OPERATIONS.adminListUpstreams)
  async list(@Req() request: Request): Promise<object[]> {
    return (await this.upstreams.all()).map((upstream) => shown(upstream, request));
  }

  @OperatorRoute('GET /upstreams/:upstream_id', CATALOGUE_OPERATIONS.adminReadUpstream)
  async read(@Param('upstream_id') id: string, @Req() request: Request): Promise<object> {
    return shown(await this.upstreams.one(id), request);
  }

  @OperatorRoute('POST /upstreams', CATALOGUE_OPERATIONS.adminAddUpstream)
  async create(@Body() body: unknown, @Req() request: Request): Promise<object> {
    const { kind = 'text', ...settings } = upstreamSettings(body);
    const { id } = await this.upstreams.ofKind(kind).create(operatorOf(request), settings);
    return this.read(id, request);
  }

  /** Changes it, as a JSON merge patch says; `enabled` takes it out of service and back. */
  @OperatorRoute('PATCH /upstreams/:upstream_id', CATALOGUE_OPERATIONS.adminChangeUpstream, { body: 'list' })
  async update(@Param('upstream_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<object> {
    const { kind, ...patch } = upstreamSettings(body);
    const upstreams = await this.upstreams.owning(id);
    if (kind !== undefined && this.upstreams.ofKind(kind) !== upstreams)
      throw GatewayError.ofField('kind', 'cannot be changed: create another upstream');
    await upstreams.update(operatorOf(request), id, patch);
    return this.read(id, request);
  }

  /** Proves its key by a call that is free, or for text by the least reply where the vendor has none. */
  @OperatorRoute('POST /upstreams/:upstream_id/verify', CATALOGUE_OPERATIONS.adminVerifyUpstream)
  verify(@Param('upstream_id') id: string, @Reply() response: Response): Promise<AdminUpstreamProof> {
    return this.upstreams.verify(id, clientGone(response));
  }

  /** Takes it away; what runs on it ends as it would have. */
  @OperatorRoute('DELETE /upstreams/:upstream_id', CATALOGUE_OPERATIONS.adminRemoveUpstream)
  async remove(@Param('upstream_id') id: string, @Req() request: Request): Promise<{ id: string; deleted: true }> {
    await (await this.upstreams.owning(id)).remove(operatorOf(request), id);
    return { id, deleted: true };
  }

  @PageRoute('GET /admin/conversations')
  async readConversations() {
    return rowOf<AdminConversations>(await this.conversations.read());
  }
}

/** Pages read its settings apart from what is known of it; in the admin API they are beside it, as in UPSTREAMS_FILE. */
function shown(upstream: AdminUpstream, { session }: Request): object {
  if (session) return upstream;
  const { settings, kind: _kind, enabled: _enabled, ...known } = upstream;
  return { ...settings, ...known };
}
