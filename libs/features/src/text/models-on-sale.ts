import { Inject, Injectable } from '@nestjs/common';
import { CATALOG, familyOf, type ModelFamily } from '#contracts';
import { SANDBOX_MAY_SELL } from '#runtime';
import { TextUpstreams } from '../upstreams/text-upstreams.js';
import { MediaUpstreams } from '../upstreams/media-upstreams.js';
import { notAvailable } from '../upstreams/upstream-choice.js';
import { PriceBook } from '../billing/prices/price-book.js';
import { isExamplePrice } from '../billing/prices/seed-prices.js';

/** The variants of a model that can be ordered. */
const MEDIA = CATALOG.flatMap((family: ModelFamily) =>
  family.models.flatMap((model) =>
    (Object.entries(family.variants).find(([id]) => id === model)?.[1] ?? []).map((variant: string) => ({
      model,
      unit: family.unit as string,
      variant,
    })),
  ),
);

/** What this gateway sells at the moment, and what keeps it from selling. */
@Injectable()
export class ModelsOnSale {
  constructor(
    private readonly prices: PriceBook,
    @Inject(TextUpstreams) private readonly text: Pick<TextUpstreams, 'served' | 'embeddingModels' | 'isSandbox'>,
    @Inject(MediaUpstreams) private readonly media: Pick<MediaUpstreams, 'sandbox' | 'serving'>,
    /** Whether what the sandbox makes may be sold: `sandboxSells`. */
    @Inject(SANDBOX_MAY_SELL) private readonly sandboxMaySell: boolean,
  ) {}

  /** True for a model that the sandbox makes. */
  isMadeBySandbox(model: string): boolean {
    if (!familyOf(model)) return this.text.isSandbox;
    const makers = this.media.serving(model);
    return makers.length > 0 && makers.every(({ upstream }) => upstream.protocol === 'sandbox');
  }

  /** True for a model that an upstream or the sandbox makes. */
  isAvailable(model: string): boolean {
    return familyOf(model)
      ? this.media.serving(model).length > 0
      : this.text.isSandbox || [...this.text.served(), ...this.text.embeddingModels()].includes(model);
  }

  /** What no upstream of a model takes at present although the catalogue allows it, in words; empty where one takes everything. */
  limitsOf(model: string): readonly string[] {
    const [first, ...others] = this.media
      .serving(model)
      .map(({ upstream }) => new Set((upstream.traitsOf?.(model) ?? []).flatMap(({ rules }) => rules)));
    return first ? [...first].filter((rule) => others.every((rules) => rules.has(rule))) : [];
  }

  /**
   * @throws GatewayError `model_not_available`: only the sandbox makes the model, and the sandbox does not sell.
   */
  expectMaker(model: string): void {
    if (this.media.sandbox !== 'forbidden' || !familyOf(model)) return;
    throw notAvailable(model);
  }

  /** True while anything that the sandbox makes can be bought. */
  get sandboxSells(): boolean {
    return this.sandboxMaySell;
  }

  /** The models that an upstream writes and that are sold at example prices, which no operator set; in order. */
  async atExamplePrices(): Promise<string[]> {
    if (this.text.isSandbox) return [];
    const inForce = await this.prices.inForce();
    return this.text.served().filter((model) => {
      const price = inForce.find(model, 'output_token', 'default');
      return price !== undefined && isExamplePrice(price.id);
    });
  }

  /**
   * The models on sale that cannot be sold for want of a price, in order. Of one that has some of its prices, those that it lacks are
   * named behind it, by their variants or units: `beta-2.5-preview (720p, 1080p)`.
   */
  async withoutPrice(): Promise<string[]> {
    const inForce = await this.prices.inForce();
    const media = MEDIA.filter(({ model }) => this.media.serving(model).length > 0);
    const text = this.text
      .served()
      .flatMap((model) => ['input_token', 'output_token'].map((unit) => ({ model, unit, variant: 'default' })));
    const embeddings = this.text.embeddingModels().map((model) => ({ model, unit: 'input_token', variant: 'default' }));
    const sold = [...media, ...text, ...embeddings];
    return [...new Set(sold.map(({ model }) => model))].flatMap((model) => {
      const wanted = sold.filter((price) => price.model === model);
      const lacking = wanted.filter(({ unit, variant }) => !inForce.find(model, unit, variant));
      if (lacking.length === 0) return [];
      if (lacking.length === wanted.length) return [model];
      return [`${model} (${lacking.map(({ unit, variant }) => (variant === 'default' ? unit : variant)).join(', ')})`];
    });
  }
}
