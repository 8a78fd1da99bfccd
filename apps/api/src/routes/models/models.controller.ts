import { Controller, Get, Header, Param, UseGuards } from '@nestjs/common';
import type { Caller } from '#features';
import { ApiKeyGuard, CurrentCaller } from '../../http/api-key.guard.js';
import { DataWith } from '../../http/envelope.js';
import { Route, Routes } from '../../http/route.js';
import { expectKnown, KnownModels, ModelViews } from './known-models.js';
import type { ModelView } from './model-view.js';
import { MODEL_OPERATIONS } from './models.openapi.js';

/** Each account sees its own prices, so that nothing between may keep them for others. */
const OWN_PRICES = 'private';

/** What can be generated here: the catalogue that also checks the requests, and the text models of the upstreams. */
@Controller('v1/models')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'account', scope: 'generate' })
export class ModelsController {
  constructor(
    private readonly models: KnownModels,
    private readonly views: ModelViews,
  ) {}

  /** Every model that the key may use, with its fields, rules and prices in force. */
  @Get()
  @Header('cache-control', OWN_PRICES)
  @Route({ operation: MODEL_OPERATIONS.listModels })
  async list(@CurrentCaller() caller: Caller): Promise<DataWith<readonly ModelView[]>> {
    const data = await this.views.of(this.models.all(caller), caller.priceList);
    // As the client libraries of two vendors page through it; it always fits one page.
    const page = { has_more: false, first_id: data.at(0)?.id ?? null, last_id: data.at(-1)?.id ?? null };
    return new DataWith(data, page, { object: 'list' });
  }

  /** One model. The fields are in `data` as everywhere, and at the top for client libraries. */
  @Get(':model')
  @Header('cache-control', OWN_PRICES)
  @Route({ operation: MODEL_OPERATIONS.readModel })
  async read(@CurrentCaller() caller: Caller, @Param('model') id: string): Promise<DataWith<ModelView>> {
    expectKnown(id, this.models.all(caller));
    const view = await this.views.one(id, caller.priceList);
    return new DataWith(view, view);
  }
}
