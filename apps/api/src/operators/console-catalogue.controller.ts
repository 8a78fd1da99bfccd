import { Body, Controller, Param, Req, Res } from '@nestjs/common';
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
import { actorOf, type Answer, ConsoleRoutes, Reads, Writes } from '../console/console-routes.js';
import { CONSOLE_API } from '../console/console-gate.js';
import { rowOf } from '../console/views.js';

/** Upstreams and the state of the gateway, for operators. */
@Controller(CONSOLE_API.slice(1))
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

  @Reads('admin/overview')
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

  @Reads('admin/upstreams')
  async listUpstreams(): Answer<'GET /admin/upstreams'> {
    return { items: await this.upstreams.all() };
  }

  @Reads('admin/upstreams/:upstream_id')
  async readUpstream(@Param('upstream_id') id: string): Answer<'GET /admin/upstreams/:upstream_id'> {
    return this.upstreams.one(id);
  }

  @Writes('admin/upstreams')
  async addUpstream(@Body() body: unknown, @Req() request: Request): Answer<'POST /admin/upstreams'> {
    const { kind = 'text', ...settings } = upstreamSettings(body);
    const { id } = await this.upstreams.ofKind(kind).create(actorOf(request), settings);
    return this.upstreams.one(id);
  }

  @Writes('admin/upstreams/:upstream_id', { body: 'list' })
  async changeUpstream(
    @Param('upstream_id') id: string,
    @Body() body: unknown,
    @Req() request: Request,
  ): Answer<'POST /admin/upstreams/:upstream_id'> {
    const { kind: _kind, ...patch } = upstreamSettings(body);
    await (await this.upstreams.owning(id)).update(actorOf(request), id, patch);
    return this.upstreams.one(id);
  }

  @Writes('admin/upstreams/:upstream_id/verify')
  verifyUpstream(
    @Param('upstream_id') id: string,
    @Res({ passthrough: true }) response: Response,
  ): Answer<'POST /admin/upstreams/:upstream_id/verify'> {
    return this.upstreams.verify(id, clientGone(response));
  }

  @Reads('admin/conversations')
  async readConversations(): Answer<'GET /admin/conversations'> {
    return rowOf<AdminConversations>(await this.conversations.read());
  }

  @Writes('admin/upstreams/:upstream_id/remove')
  async removeUpstream(
    @Param('upstream_id') id: string,
    @Req() request: Request,
  ): Answer<'POST /admin/upstreams/:upstream_id/remove'> {
    await (await this.upstreams.owning(id)).remove(actorOf(request), id);
    return { id, removed: true };
  }
}
