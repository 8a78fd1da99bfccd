import { Inject, Injectable } from '@nestjs/common';
import { GatewayError, MODEL_IDS, nearestNames } from '#contracts';
import { type Caller, type ListedPrice, ModelsOnSale, PriceList, TextUpstreams } from '#features';
import { PLATFORM, type Platform } from '#runtime';
import { type ModelView, toModelView } from './model-view.js';

/** The models there are, as far as a key may use them. */
@Injectable()
export class KnownModels {
  constructor(private readonly upstreams: TextUpstreams) {}

  /** What the key may use, media models first. */
  all(caller: Pick<Caller, 'allowedModels'>): string[] {
    const { upstreams } = this;
    return allowed([...new Set([...MODEL_IDS, ...upstreams.models(), ...upstreams.embeddingModels()])], caller);
  }

  /** Whether this model makes embeddings, and nothing else. */
  isEmbedding(id: string): boolean {
    return !this.upstreams.has(id) && this.upstreams.embeddingModels().includes(id);
  }

  text(caller: Caller): string[] {
    return allowed(this.upstreams.models(), caller);
  }
}

const allowed = (models: readonly string[], { allowedModels }: Pick<Caller, 'allowedModels'>): string[] =>
  models.filter((id) => allowedModels.length === 0 || allowedModels.includes(id));

/** @throws GatewayError `model_not_found` that suggests the nearest names. */
export function expectKnown(id: string, models: readonly string[]): void {
  if (models.includes(id)) return;
  const method = CALL_OF_MODEL.exec(id)?.[1];
  const name = `model "${id.slice(0, 64)}"`;
  const near = nearestNames(id, models, 3);
  const advice = near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'GET /v1/models lists those there are.';
  const sentence = method ? `does not exist: ${method} is called by POST.` : `does not exist. ${advice}`;
  throw new GatewayError('model_not_found', `${name} ${sentence}`, { param: 'model' });
}

/** The end of a path that is called with a body, where the path of a model was asked for. */
const CALL_OF_MODEL = /:(generateContent|streamGenerateContent|countTokens)$/;

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
