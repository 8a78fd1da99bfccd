import { GatewayError, MODEL_IDS, nearestNames } from '#contracts';
import { type Caller, PriceList, TextUpstreams } from '#features';
import { PLATFORM, type Platform } from '#platform';
import { Controller, Get, Inject, Param, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, CurrentCaller } from '../door/api-key.guard.js';
import { NeedsScope } from '../door/needs-scope.js';
import { type ModelView, toModelView } from './model-view.js';

/** The list in the form that the client libraries of two vendors page through; it always fits one page. */
interface ModelListBody {
  readonly code: 200;
  readonly object: 'list';
  readonly data: readonly ModelView[];
  readonly has_more: false;
  readonly first_id: string | null;
  readonly last_id: string | null;
}

/** What can be generated here: the catalogue that also checks the requests, and the text models of the upstreams. */
@Controller('v1/models')
@UseGuards(ApiKeyGuard)
@NeedsScope('generate')
export class ModelsController {
  constructor(
    private readonly prices: PriceList,
    private readonly upstreams: TextUpstreams,
    @Inject(PLATFORM) private readonly platform: Platform,
  ) {}

  /** Every model that the key may use, with its fields, rules and prices in force. */
  @Get()
  async list(@CurrentCaller() caller: Caller): Promise<ModelListBody> {
    const prices = await this.prices.inForce();
    const { BALANCE_UNIT: currency } = this.platform.config.server;
    const data = this.modelsFor(caller).map((id) => toModelView(id, prices.get(id) ?? [], currency));
    return {
      code: 200,
      object: 'list',
      data,
      has_more: false,
      first_id: data.at(0)?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
    };
  }

  /** One model. The fields stand in `data` as everywhere, and at the top for client libraries. */
  @Get(':model')
  async read(
    @CurrentCaller() caller: Caller,
    @Param('model') id: string,
  ): Promise<ModelView & { code: 200; data: ModelView }> {
    const models = this.modelsFor(caller);
    if (!models.includes(id)) throw modelNotFound(id, models);
    const prices = (await this.prices.inForce(id)).get(id) ?? [];
    const view = toModelView(id, prices, this.platform.config.server.BALANCE_UNIT);
    return { code: 200, data: view, ...view };
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
