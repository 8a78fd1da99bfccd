import { Body, Controller, Param, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import type { AdminOverview, AdminPrice } from '#contracts';
import {
  FleetStateService,
  PricePreview,
  PricesService,
  ReconciliationService,
  TasksNeedingAttentionService,
  WorkersService,
} from '#features';
import { checked, positiveAmountOf } from '../checked-input.js';
import { NewPriceBody, PriceQuery } from '../routes/admin/price.dto.js';
import { Upstreams, upstreamSettings } from '../upstreams.js';
import { actorOf } from './acting.js';
import { CONSOLE_API } from './console-gate.js';
import { type Answer, ConsoleRoutes, Reads, Writes } from './console-routes.js';
import { rowOf } from './views.js';

/** Prices, upstreams and the state of the gateway, for operators. */
@Controller(CONSOLE_API.slice(1))
@ConsoleRoutes()
export class AdminCatalogueController {
  constructor(
    private readonly prices: PricesService,
    private readonly previews: PricePreview,
    private readonly upstreams: Upstreams,
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

  @Reads('admin/prices')
  async listPrices(@Query() query: unknown): Answer<'GET /admin/prices'> {
    const { model = null, at, history } = checked(PriceQuery, query);
    const moment = at === undefined ? new Date() : new Date(at);
    const rows = await (history === 'true' ? this.prices.history(model) : this.prices.inForce(model, moment));
    return { items: rows.map((row) => rowOf<AdminPrice>(row)) };
  }

  @Writes('admin/prices/preview')
  async preview(@Body() body: unknown): Answer<'POST /admin/prices/preview'> {
    return rowOf(await this.previews.of(priceOf(body)));
  }

  @Writes('admin/prices')
  async addPrice(@Body() body: unknown, @Req() request: Request): Answer<'POST /admin/prices'> {
    return rowOf(await this.prices.add(actorOf(request), priceOf(body)));
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

  @Writes('admin/upstreams/:upstream_id')
  async changeUpstream(
    @Param('upstream_id') id: string,
    @Body() body: unknown,
    @Req() request: Request,
  ): Answer<'POST /admin/upstreams/:upstream_id'> {
    const { kind: _kind, ...patch } = upstreamSettings(body);
    await (await this.upstreams.owning(id)).update(actorOf(request), id, patch);
    return this.upstreams.one(id);
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

function priceOf(body: unknown) {
  const price = checked(NewPriceBody, body);
  return {
    model: price.model,
    unit: price.unit,
    variant: price.variant,
    amountMicros: positiveAmountOf(price.amount, 'amount'),
    perQuantity: BigInt(price.per_quantity),
    effectiveFrom: price.effective_from === undefined ? null : new Date(price.effective_from),
  };
}
