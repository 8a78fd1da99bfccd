import { Inject, Injectable } from '@nestjs/common';
import { type ListedPrice, ModelsOnSale, PriceList, TextUpstreams } from '#features';
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
    private readonly upstreams: TextUpstreams,
    @Inject(PLATFORM) private readonly platform: Platform,
  ) {}

  /** Those of known ids, in their order, at the prices of a list; undefined: the book. */
  async of(ids: readonly string[], list: string | undefined): Promise<ModelView[]> {
    const prices = await this.prices.inForce(null, list);
    return ids.map((id) => this.view(id, prices.get(id)));
  }

  /** One, of a known id. */
  async one(id: string, list: string | undefined): Promise<ModelView> {
    return this.view(id, (await this.prices.inForce(id, list)).get(id));
  }

  private view(id: string, prices: readonly ListedPrice[] = []): ModelView {
    const { BALANCE_UNIT: currency } = this.platform.config.server;
    const kind = this.models.isEmbedding(id) ? 'embedding' : 'text';
    const available = this.onSale.isAvailable(id);
    const [limits, traits] = [this.onSale.limitsOf(id), this.upstreams.traitsOf(id)];
    return toModelView(id, { prices, currency, kind, available, limits, traits });
  }
}
