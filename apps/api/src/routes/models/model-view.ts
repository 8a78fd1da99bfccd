import {
  type ConsoleModel,
  type ConsolePrice,
  familyOf,
  fieldTable,
  formatMicros,
  type ModelFamily,
  type ModelTraits,
} from '#contracts';
import type { ListedPrice } from '#features';

/** When the catalogue of this version was written, as client libraries expect a date on each model. */
const CATALOGUE_DATE = '2026-11-20T00:00:00Z';

type VariantView = ConsoleModel['variants'][number];

/** A model with everything needed to call it; what client libraries of two vendors expect beside it. */
export interface ModelView extends ConsoleModel {
  readonly object: 'model';
  readonly created: number;
  readonly owned_by: string;
  readonly type: 'model';
  readonly display_name: string;
  readonly created_at: string;
  /** What no upstream of it takes at present although the fields allow it, in words. */
  readonly limits: readonly string[];
  /** What the text models of all its upstreams take alike, by trait; null for a model that writes no text. */
  readonly traits: Partial<ModelTraits> | null;
}

/** What is known of a model besides the catalogue. */
interface ModelFacts {
  readonly prices: readonly ListedPrice[];
  readonly currency: string;
  /** Of a model that is not of the catalogue. */
  readonly kind: 'text' | 'embedding';
  readonly available: boolean;
  readonly limits: readonly string[];
  readonly traits: Partial<ModelTraits>;
}

/** A model of the catalogue, or one of an upstream. Identifiers match exactly. */
export function toModelView(id: string, { prices, currency, kind, available, limits, traits }: ModelFacts): ModelView {
  const family = familyOf(id);
  const views = prices.map((price) => toPriceView(price, currency));
  return {
    id,
    object: 'model',
    created: Date.parse(CATALOGUE_DATE) / 1000,
    owned_by: 'generation-gateway',
    type: 'model',
    display_name: id,
    created_at: CATALOGUE_DATE,
    ...(family ? mediaFacts(id, family) : kind === 'text' ? textFacts(id) : EMBEDDING_FACTS),
    traits: family === undefined && kind === 'text' ? traits : null,
    available,
    limits,
    prices: views,
    variants: family ? soldVariants(id, family, views) : views.map(toVariantView),
  };
}

const soldVariants = (id: string, { variants, unit }: ModelFamily, prices: readonly ConsolePrice[]): VariantView[] =>
  (variants[id] ?? []).map((variant) => {
    const price = prices.find((each) => each.variant === variant && each.unit === unit);
    return price ? toVariantView(price) : { variant, unit, price: null };
  });

const toVariantView = ({ variant, unit, from_input_tokens: from, ...price }: ConsolePrice): VariantView => ({
  variant,
  unit,
  ...(from !== undefined && { from_input_tokens: from }),
  price: { amount: price.amount, per_quantity: price.per_quantity, currency: price.currency },
});

type Facts = Pick<ModelView, 'kind' | 'paths' | 'summary' | 'modes' | 'fields' | 'rules' | 'result_lifetime_seconds'>;

const mediaFacts = (id: string, family: ModelFamily): Facts => ({
  kind: family.medium,
  paths: [family.path],
  summary: family.summary,
  modes: family.modes,
  fields: fieldTable(family, id),
  rules: family.rules.map(({ message }) => message),
  result_lifetime_seconds: family.resultTtlSeconds,
});

/** Every text model answers in every style; their bodies are described by `/openapi.json`. */
const textFacts = (id: string): Facts => ({
  kind: 'text',
  paths: ['/v1/responses', '/v1/chat/completions', '/v1/messages', `/v1beta/models/${id}:generateContent`],
  summary: 'Text from text and images, with tools, at once or as a stream.',
  modes: ['text'],
  fields: [],
  rules: [],
  result_lifetime_seconds: null,
});

const EMBEDDING_FACTS: Facts = {
  kind: 'embedding',
  paths: ['/v1/embeddings'],
  summary: 'Vectors from texts.',
  modes: ['embedding'],
  fields: [],
  rules: [],
  result_lifetime_seconds: null,
};

const toPriceView = (price: ListedPrice, currency: string): ConsolePrice => ({
  unit: price.unit,
  variant: price.variant,
  ...(price.fromInputTokens > 0 && { from_input_tokens: price.fromInputTokens }),
  amount: formatMicros(price.amountMicros),
  per_quantity: Number(price.perQuantity),
  currency,
});
