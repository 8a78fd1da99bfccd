import { Body, Param, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { AdminConversations, AdminOverview } from '#contracts';
import {
  ConversationReport,
  FleetStateService,
  ReconciliationService,
  TasksNeedingAttentionService,
  WorkersService,
} from '#features';
import { clientGone } from '../http/client-gone.js';
import { Upstreams, upstreamSettings } from '../upstreams.js';
import { actorOf, type Answer, ConsoleRoute, ConsoleRoutes } from '../console/console-routes.js';
import { rowOf } from '../console/views.js';

/** Upstreams and the state of the gateway, for operators. */
@ConsoleRoutes()
export class AdminCatalogueController {
  constructor(
    private readonly upstreams: Upstreams,
    private readonly conversations: ConversationReport,
    private readonly fleet: FleetStateService,
    private readonly workers: WorkersService,
    private readonly needingAttention: TasksNeedingAttentionService,
    private readonly reconciliation: ReconciliationService,
  ) {}

  @ConsoleRoute('GET /admin/overview')
  async overview(): Answer<'GET /admin/overview'> {
    const [state, upstreams, workers, { parked, unconfirmed, orphans }, [report]] = await Promise.all([
      this.fleet.read(),
      this.upstreams.all(),
      this.workers.list(false),
      this.needingAttention.list(),
      this.reconciliation.latest(1),
    ]);
    return {
      open_tasks: state.open.reduce((sum, { open }) => sum + open, 0),
      parked_tasks: parked.length,
      unconfirmed_tasks: unconfirmed.length,
      orphans: orphans.length,
      upstreams: upstreams.length,
      upstreams_not_serving: upstreams.filter(({ health }) => health.state !== 'serving').length,
      workers: workers.length,
      last_reconciliation: report ? rowOf<NonNullable<AdminOverview['last_reconciliation']>>(report) : null,
    };
  }

  @ConsoleRoute('GET /admin/upstreams')
  async listUpstreams(): Answer<'GET /admin/upstreams'> {
    return { items: await this.upstreams.all() };
  }

  @ConsoleRoute('GET /admin/upstreams/:upstream_id')
  async readUpstream(@Param('upstream_id') id: string): Answer<'GET /admin/upstreams/:upstream_id'> {
    return this.upstreams.one(id);
  }

  @ConsoleRoute('POST /admin/upstreams')
  async addUpstream(@Body() body: unknown, @Req() request: Request): Answer<'POST /admin/upstreams'> {
    const { kind = 'text', ...settings } = upstreamSettings(body);
    const { id } = await this.upstreams.ofKind(kind).create(actorOf(request), settings);
    return this.upstreams.one(id);
  }

  @ConsoleRoute('POST /admin/upstreams/:upstream_id', { body: 'list' })
  async changeUpstream(
    @Param('upstream_id') id: string,
    @Body() body: unknown,
    @Req() request: Request,
  ): Answer<'POST /admin/upstreams/:upstream_id'> {
    const { kind: _kind, ...patch } = upstreamSettings(body);
    await (await this.upstreams.owning(id)).update(actorOf(request), id, patch);
    return this.upstreams.one(id);
  }

  @ConsoleRoute('POST /admin/upstreams/:upstream_id/verify')
  verifyUpstream(
    @Param('upstream_id') id: string,
    @Res({ passthrough: true }) response: Response,
  ): Answer<'POST /admin/upstreams/:upstream_id/verify'> {
    return this.upstreams.verify(id, clientGone(response));
  }

  @ConsoleRoute('GET /admin/conversations')
  async readConversations(): Answer<'GET /admin/conversations'> {
    return rowOf<AdminConversations>(await this.conversations.read());
  }

  @ConsoleRoute('POST /admin/upstreams/:upstream_id/remove')
  async removeUpstream(
    @Param('upstream_id') id: string,
    @Req() request: Request,
  ): Answer<'POST /admin/upstreams/:upstream_id/remove'> {
    await (await this.upstreams.owning(id)).remove(actorOf(request), id);
    return { id, removed: true };
  }
}
