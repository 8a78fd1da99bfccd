import { type Field, familyOf, type JsonObject, type JsonValue, type MediaOrder, type ModelFamily } from '#contracts';
import { type HeldTrait, refuseBeyond, type TraitRule } from '../traits/media-traits.js';
import { NotMakeable } from '../http/media-codec.js';
import { modelOrders } from './cheapest-orders.js';

/** One question to a vendor: an order, and what the table says becomes of it. */
export interface TraitProbe {
  readonly model: string;
  readonly field: string;
  /** Among the rules of the field. */
  readonly rule: number;
  readonly value: JsonValue | undefined;
  readonly isAllowed: boolean;
  readonly order: MediaOrder;
}

/** Longer texts are asked of no vendor. */
const MOST_CHARACTERS = 20_000;
const IMAGE = (index: number): string => `https://media.example.com/image-${index}.png`;

/**
 * What to ask a vendor about what is held of a model: for each rule one order that it forbids, and one at its bound that it allows.
 * All other rules hold in each, so that a refusal is about this one. Rules for which no such order is found are left out.
 */
export function traitProbes(model: string, held: readonly HeldTrait[]): TraitProbe[] {
  const family: ModelFamily | undefined = familyOf(model);
  if (!family) return [];
  return held.flatMap(({ field, rules }) =>
    rules.flatMap((rule, index) => {
      const known = family.fields.find(({ name }) => name === field);
      if (!known) return [];
      return [false, true].flatMap((isAllowed): TraitProbe[] => {
        for (const value of valuesOf(known, rule, isAllowed)) {
          const order = orderWith(family, model, { field, value, rule }, without(held, field, isAllowed ? -1 : index));
          if (order) return [{ model, field, rule: index, value, isAllowed, order }];
        }
        return [];
      });
    }),
  );
}

/** What is held, one rule left out. */
const without = (held: readonly HeldTrait[], field: string, index: number): HeldTrait[] =>
  held.map((trait) =>
    trait.field === field ? { ...trait, rules: trait.rules.filter((_rule, place) => place !== index) } : trait,
  );

/** Values that a rule allows at its bound, or forbids beside it; undefined: the field is left out. */
function valuesOf(field: Field, { one_of: values, least, most, required }: TraitRule, isAllowed: boolean) {
  const found: (JsonValue | undefined)[] = [];
  if (values !== undefined)
    found.push(
      ...(isAllowed
        ? values.toReversed()
        : otherValues(field).filter((value) => !values.some((known) => known === value))),
    );
  if (most !== undefined) found.push(sized(field, isAllowed ? most : most + 1));
  if (least !== undefined) found.push(sized(field, isAllowed ? least : least - 1));
  if (required === true && !isAllowed) found.push(undefined);
  return found.filter((value) => value !== undefined || required === true);
}

function otherValues(field: Field): readonly JsonValue[] {
  if (field.kind === 'choice') return field.values;
  if (field.kind === 'flag') return [true, false];
  if (field.kind === 'whole')
    return Array.from({ length: Math.min(64, field.max - field.min + 1) }, (_, index) => field.min + index);
  return field.kind === 'text' ? ['flying'] : [];
}

function sized(field: Field, size: number): JsonValue | undefined {
  if (size < 0) return field.kind === 'whole' ? size : undefined;
  if (field.kind === 'whole') return size;
  if (field.kind === 'text')
    return size > MOST_CHARACTERS ? undefined : 'a '.repeat(Math.ceil(size / 2)).slice(0, size);
  if (field.kind === 'files') return Array.from({ length: size }, (_, index) => IMAGE(index));
  return field.kind === 'objects' && size <= 1 ? [{ type: 'web_search' }].slice(0, size) : undefined;
}

interface Asked {
  readonly field: string;
  readonly value: JsonValue | undefined;
  readonly rule: TraitRule;
}

/** The least order with that value to which the rule is about, and to which all that is held has nothing to say. */
function orderWith(
  family: ModelFamily,
  model: string,
  { field, value, rule }: Asked,
  held: readonly HeldTrait[],
): MediaOrder | undefined {
  const conditions = Object.entries(rule.with ?? {}).map(([name, values]) => [name, values[0]] as const);
  const change = (body: JsonObject): JsonObject => {
    const { [field]: _before, ...rest } = body;
    return {
      ...rest,
      ...(Object.fromEntries(conditions) as JsonObject),
      ...(value !== undefined && { [field]: value }),
    };
  };
  return modelOrders(family, model, change).find((order) => {
    if (rule.modes !== undefined && !rule.modes.includes(order.mode)) return false;
    if (JSON.stringify(order.parameters[field]) !== JSON.stringify(value)) return false;
    try {
      refuseBeyond(held, order);
      return true;
    } catch (error) {
      if (error instanceof NotMakeable) return false;
      throw error;
    }
  });
}

export function amendedRule(rule: TraitRule, { value, isAllowed }: TraitProbe): TraitRule | undefined {
  const { one_of: values, most, least, required, ...conditions } = rule;
  const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  if (values !== undefined && isScalar) {
    const amended = isAllowed ? values.filter((known) => known !== value) : [...values, value];
    return { ...conditions, one_of: amended };
  }
  // Which bound holds instead one question does not tell: what the vendor took is no longer refused, and what it refused is left out.
  const size = Array.isArray(value) ? value.length : typeof value === 'string' ? value.length : value;
  const bounds = {
    ...(most !== undefined &&
      (isAllowed ? { most: size === most ? most - 1 : most } : size === most + 1 ? {} : { most })),
    ...(least !== undefined &&
      (isAllowed ? { least: size === least ? least + 1 : least } : size === least - 1 ? {} : { least })),
    ...(required === true && value !== undefined && { required }),
  };
  return Object.keys(bounds).length === 0 ? undefined : { ...conditions, ...bounds };
}

/** What became of a probe. `micros`: what it may cost. */
export type ProbeResult =
  | { readonly outcome: 'taken'; readonly micros: bigint }
  | { readonly outcome: 'refused'; readonly why: string }
  /** The vendor was not asked, or its answer says nothing about the rule. */
  | { readonly outcome: 'unasked'; readonly why: string; readonly micros?: bigint };

interface Asking {
  readonly offer: (probe: TraitProbe, leftMicros: bigint) => Promise<ProbeResult>;
  /** The most that all orders which are taken may cost together. */
  readonly mostMicros: bigint;
  readonly say: (line: string) => void;
}

/**
 * Asks a vendor about all that is held of some models, one order after the other, and says what it answered.
 *
 * @returns what differs, as `model_traits` of an entry: model to field to its rules.
 */
export async function askTraits(
  models: readonly { readonly model: string; readonly held: readonly HeldTrait[] }[],
  { offer, mostMicros, say }: Asking,
): Promise<Record<string, Record<string, readonly TraitRule[]>>> {
  const patch: Record<string, Record<string, readonly TraitRule[]>> = {};
  let leftMicros = mostMicros;
  for (const { model, held } of models) {
    for (const probe of traitProbes(model, held)) {
      const { field, value, isAllowed } = probe;
      const result = await offer(probe, leftMicros);
      if ('micros' in result) leftMicros -= result.micros ?? 0n;
      const isAsHeld = result.outcome === (isAllowed ? 'taken' : 'refused');
      const shown = JSON.stringify(value)?.slice(0, 60) ?? 'left out';
      const words =
        result.outcome === 'unasked'
          ? 'not known'
          : isAsHeld
            ? `${result.outcome}, as held`
            : `DIFFERS: ${result.outcome}`;
      say(`${model} ${field} ${shown}: ${words}${'why' in result ? ` (${result.why})` : ''}`);
      if (isAsHeld || result.outcome === 'unasked') continue;
      const rules = patch[model]?.[field] ?? held.find((trait) => trait.field === field)?.rules ?? [];
      const amended = rules.flatMap((rule, index) =>
        index === probe.rule ? (amendedRule(rule, probe) ?? []) : [rule],
      );
      (patch[model] ??= {})[field] = amended;
    }
  }
  return patch;
}
