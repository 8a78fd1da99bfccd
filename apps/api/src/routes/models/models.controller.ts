import { Controller, Get, Inject, Param, UseGuards } from '@nestjs/common';
import { GatewayError, MODEL_IDS, nearestNames } from '#contracts';
import { type Caller, PriceList, TextUpstreams } from '#features';
import { PLATFORM, type Platform } from '#runtime';
import { ApiKeyGuard, CurrentCaller } from '../../http/api-key.guard.js';
import { DataWith } from '../../http/envelope.js';
import { Route, Routes } from '../../http/route.js';
import { type ModelView, toModelView } from './model-view.js';
import { MODEL_OPERATIONS } from './models.openapi.js';

/** What can be generated here: the catalogue that also checks the requests, and the text models of the upstreams. */
@Controller('v1/models')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'account', scope: 'generate' })
export class ModelsController {
  constructor(
    private readonly prices: PriceList,
    private readonly upstreams: TextUpstreams,
    @Inject(PLATFORM) private readonly platform: Platform,
  ) {}

  /** Every model that the key may use, with its fields, rules and prices in force. */
  @Get()
  @Route({ operation: MODEL_OPERATIONS.listModels })
  async list(@CurrentCaller() caller: Caller): Promise<DataWith<readonly ModelView[]>> {
    const prices = await this.prices.inForce();
    const { BALANCE_UNIT: currency } = this.platform.config.server;
    const data = this.modelsFor(caller).map((id) => toModelView(id, prices.get(id) ?? [], currency));
    // As the client libraries of two vendors page through it; it always fits one page.
    const page = { has_more: false, first_id: data.at(0)?.id ?? null, last_id: data.at(-1)?.id ?? null };
    return new DataWith(data, page, { object: 'list' });
  }

  /** One model. The fields stand in `data` as everywhere, and at the top for client libraries. */
  @Get(':model')
  @Route({ operation: MODEL_OPERATIONS.readModel })
  async read(@CurrentCaller() caller: Caller, @Param('model') id: string): Promise<DataWith<ModelView>> {
    const models = this.modelsFor(caller);
    if (!models.includes(id)) throw modelNotFound(id, models);
    const prices = (await this.prices.inForce(id)).get(id) ?? [];
    const view = toModelView(id, prices, this.platform.config.server.BALANCE_UNIT);
    return new DataWith(view, view);
  }

  /** What the key may use, media models first. */
  private modelsFor({ allowedModels }: Caller): string[] {
    const models = [...MODEL_IDS, ...this.upstreams.models()];
    return allowedModels.length === 0 ? models : models.filter((id) => allowedModels.includes(id));
  }
}

function modelNotFound(id: string, models: readonly string[]): GatewayError {
  const near = nearestNames(id, models, 3);
  const advice = near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'GET /v1/models lists those there are.';
  return new GatewayError('model_not_found', `model "${id.slice(0, 64)}" does not exist. ${advice}`, {
    param: 'model',
  });
}
