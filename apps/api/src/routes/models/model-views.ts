import { Inject, Injectable } from '@nestjs/common';
import { type ListedPrice, ModelsOnSale, PriceList } from '#features';
import { PLATFORM, type Platform } from '#runtime';
import { KnownModels } from './known-models.js';
import { type ModelView, toModelView } from './model-view.js';

/** Models with everything needed to call them, and the prices in force. */
@Injectable()
export class ModelViews {
  constructor(
    private readonly prices: PriceList,
    private readonly models: KnownModels,
    private readonly onSale: ModelsOnSale,
    @Inject(PLATFORM) private readonly platform: Platform,
  ) {}

  /** Those of known ids, in their order. */
  async of(ids: readonly string[]): Promise<ModelView[]> {
    const prices = await this.prices.inForce();
    return ids.map((id) => this.view(id, prices.get(id)));
  }

  /** One, of a known id. */
  async one(id: string): Promise<ModelView> {
    return this.view(id, (await this.prices.inForce(id)).get(id));
  }

  private view(id: string, prices: readonly ListedPrice[] = []): ModelView {
    const { BALANCE_UNIT: currency } = this.platform.config.server;
    const kind = this.models.isEmbedding(id) ? 'embedding' : 'text';
    return toModelView(id, { prices, currency, kind, available: this.onSale.isAvailable(id) });
  }
}
