import {
  familyOf,
  FEE_UNITS,
  isJsonObject,
  type Micros,
  MODEL_IDS,
  nearestName,
  parseMicros,
  SERVICE_TIERS,
  serviceTierOf,
  TOKEN_UNITS,
  TOOL_UNITS,
} from '#contracts';
import { nextTurn, Turns, unknownFieldRule } from '#platform';
import { priceName, type PriceOf } from './bands.js';

/** Files that accounts keep are sold under this name, as if they were a model. */
export const STORAGE_MODEL = 'file-storage';

/** A MiB that lies for a day. */
export const STORAGE_UNIT = 'storage_mb_day';

export interface DatedPrice extends PriceOf {
  readonly amountMicros: Micros;
  readonly perQuantity: bigint;
  readonly effectiveFrom: Date;
}

/** What is wrong in a list of prices. */
export interface PriceMistake {
  /** Where: `['prices', 3, 'amount']`. */
  readonly path: readonly (string | number)[];
  /** To be read after the name of the field. */
  readonly rule: string;
}

/** What a price list says from a moment on: a factor of the book, or an amount of its own. */
export interface DatedRule {
  /** `*` for every model. */
  readonly model: string;
  /** Null: every unit, variant and band. */
  readonly unit: string | null;
  readonly variant: string | null;
  readonly fromInputTokens: number | null;
  readonly factorMillionths: bigint | null;
  readonly amountMicros: Micros | null;
  readonly perQuantity: bigint | null;
  readonly effectiveFrom: Date;
}

export interface FileList {
  readonly id: string;
  readonly name: string;
  readonly rules: readonly DatedRule[];
}

/** Checked prices and price lists, in the order of the file; of use only when there are no mistakes. */
export interface CheckedPrices {
  readonly prices: readonly DatedPrice[];
  readonly lists: readonly FileList[];
  readonly mistakes: readonly PriceMistake[];
}

const FIELDS = new Set(['model', 'unit', 'variant', 'from_input_tokens', 'amount', 'per_quantity', 'effective_from']);
const PER_QUANTITY_MAX = 1_000_000_000;
/** No vendor reads so much at once. */
export const BAND_MAX = 1_000_000_000;
const FILE_FIELDS = ['prices', 'lists', 'effective_from'];
const LIST_FIELDS = ['id', 'name', 'rules'];
const RULE_FIELDS = new Set([...FIELDS, 'factor']);
/** 5,000 models with ten prices each. */
export const ENTRIES_MAX = 50_000;
export const LISTS_MAX = 10_000;
/** So many mistakes are listed; the entries behind them are not looked at. */
const MISTAKES_MAX = 100;
const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/**
 * Reads a list of prices: `{ effective_from?, prices: [{ model, unit, variant?, from_input_tokens?, amount, per_quantity?,
 * effective_from? }], lists?: [{ id, name, rules: [{ model, unit?, variant?, from_input_tokens?, factor | amount and per_quantity?,
 * effective_from? }] }] }`.
 * `effective_from` at the top is that of the entries that name none. A list may be said in several entries of one id.
 */
export function checkPrices(sent: unknown): CheckedPrices {
  const reading = readList(sent);
  for (;;) {
    const { done, value } = reading.next();
    if (done) return value;
  }
}

/** The same with other work in between, since a long list takes a while. */
export async function checkPricesInTurns(sent: unknown): Promise<CheckedPrices> {
  const reading = readList(sent);
  const turns = new Turns();
  for (;;) {
    const { done, value } = reading.next();
    if (done) return value;
    if (turns.isOver) await nextTurn(turns);
  }
}

/** Pauses behind each entry. */
function* readList(sent: unknown): Generator<undefined, CheckedPrices> {
  const mistakes: PriceMistake[] = [];
  const { prices: list = [], lists = [], ...others } = isJsonObject(sent) ? sent : {};
  const isEmpty = Array.isArray(list) && list.length === 0 && !(Array.isArray(lists) && lists.length > 0);
  if (!Array.isArray(list) || isEmpty || list.length > ENTRIES_MAX)
    return {
      prices: [],
      lists: [],
      mistakes: [{ path: ['prices'], rule: `must be a list of 1 to ${ENTRIES_MAX} prices` }],
    };
  for (const name of Object.keys(others))
    if (!FILE_FIELDS.includes(name)) mistakes.push({ path: [name], rule: unknownFieldRule(name, FILE_FIELDS) });
  const date = others['effective_from'];
  const seen = new Set<string>();
  const prices: DatedPrice[] = [];
  for (const [index, entry] of (list as readonly unknown[]).entries()) {
    if (mistakes.length >= MISTAKES_MAX) break;
    const price = new PriceReader(entry, ['prices', index], date, mistakes).read();
    if (price) {
      const key = `${priceName(price)}|${price.effectiveFrom.getTime()}`;
      if (seen.has(key)) mistakes.push({ path: ['prices', index], rule: 'says the same price and moment twice' });
      seen.add(key);
      prices.push(price);
    }
    yield undefined;
  }
  const read = yield* readLists(lists, date, mistakes);
  return { prices, lists: read, mistakes: mistakes.slice(0, MISTAKES_MAX) };
}

function* readLists(sent: unknown, date: unknown, mistakes: PriceMistake[]): Generator<undefined, FileList[]> {
  if (!Array.isArray(sent) || sent.length > LISTS_MAX) {
    mistakes.push({ path: ['lists'], rule: `must be at most ${LISTS_MAX} lists` });
    return [];
  }
  const found = new Map<string, FileList & { readonly rules: DatedRule[] }>();
  const seen = new Set<string>();
  for (const [index, entry] of (sent as readonly unknown[]).entries()) {
    const path = ['lists', index];
    const { id, name, rules = [], ...others } = isJsonObject(entry) ? entry : {};
    const wrong = (field: string, rule: string) => mistakes.push({ path: [...path, field], rule });
    for (const other of Object.keys(others)) wrong(other, unknownFieldRule(other, LIST_FIELDS));
    if (typeof id !== 'string' || !LIST_ID.test(id)) wrong('id', 'must be 1 to 64 letters, digits or any of _ . -');
    if (typeof name !== 'string' || name === '' || name.length > 200)
      wrong('name', 'must be a text of 1 to 200 characters');
    if (!Array.isArray(rules)) wrong('rules', 'must be a list of rules');
    const list = found.get(wordOf(id)) ?? { id: wordOf(id), name: wordOf(name), rules: [] };
    if (list.name !== name) wrong('name', `must be "${list.name}", as above`);
    found.set(list.id, list);
    for (const [place, said] of (Array.isArray(rules) ? (rules as readonly unknown[]) : []).entries()) {
      if (mistakes.length >= MISTAKES_MAX) return [];
      const rule = new RuleReader(said, [...path, 'rules', place], date, mistakes).read();
      if (rule) {
        const { model, unit, variant, fromInputTokens, effectiveFrom } = rule;
        const key = JSON.stringify([id, model, unit, variant, fromInputTokens, effectiveFrom]);
        if (seen.has(key))
          mistakes.push({ path: [...path, 'rules', place], rule: 'says the same rule and moment twice' });
        seen.add(key);
        list.rules.push(rule);
      }
      yield undefined;
    }
  }
  return [...found.values()];
}

export const LIST_ID = /^[a-z\d][\w.-]{0,63}$/i;

/** What entries of prices and rules of lists have in common. */
class EntryReader {
  protected readonly fields: Readonly<Record<string, unknown>>;

  constructor(
    protected readonly entry: unknown,
    private readonly path: readonly (string | number)[],
    private readonly defaultDate: unknown,
    protected readonly mistakes: PriceMistake[],
  ) {
    this.fields = isJsonObject(entry) ? entry : {};
  }

  protected wrong(field: readonly (string | number)[], rule: string): void {
    this.mistakes.push({ path: [...this.path, ...field], rule });
  }

  protected expectObject(fields: ReadonlySet<string>, what: string): void {
    if (!isJsonObject(this.entry)) this.wrong([], `must be an object with ${what}`);
    for (const name of Object.keys(this.fields))
      if (!fields.has(name)) this.wrong([name], unknownFieldRule(name, [...fields]));
  }

  protected model(): string {
    const { model } = this.fields;
    if (typeof model === 'string' && model.length > 0 && model.length <= 200) return model;
    this.wrong(['model'], 'must be a text of 1 to 200 characters');
    return '';
  }

  protected fromInput(): number {
    const { from_input_tokens: from = 0 } = this.fields;
    if (!Number.isInteger(from) || Number(from) < 0 || Number(from) > BAND_MAX)
      this.wrong(['from_input_tokens'], `must be a whole number from 0 to ${BAND_MAX}`);
    return Number(from);
  }

  protected perQuantity(): bigint {
    const { per_quantity: perQuantity = 1 } = this.fields;
    if (Number.isInteger(perQuantity) && Number(perQuantity) >= 1 && Number(perQuantity) <= PER_QUANTITY_MAX)
      return BigInt(Number(perQuantity));
    this.wrong(['per_quantity'], `must be a whole number from 1 to ${PER_QUANTITY_MAX}`);
    return 1n;
  }

  protected millionths(name: 'amount' | 'factor'): bigint | undefined {
    const micros = amountIn(this.fields[name]);
    if (micros === undefined)
      this.wrong([name], 'must be a decimal such as "0.25", not below 0, with at most six places');
    return micros;
  }

  protected effectiveFrom(): Date {
    const { effective_from: written = this.defaultDate } = this.fields;
    const text = written instanceof Date ? written.toISOString() : written;
    const date = new Date(typeof text === 'string' && DATE.test(text) && isDay(text) ? text : Number.NaN);
    if (Number.isNaN(date.getTime()))
      this.wrong(
        ['effective_from'],
        'must be a day or a moment with its time zone, such as 2026-12-01 or 2026-12-01T00:00:00Z',
      );
    return date;
  }
}

/** Reads one rule of a price list, and notes what is wrong with it. */
class RuleReader extends EntryReader {
  read(): DatedRule | undefined {
    const before = this.mistakes.length;
    this.expectObject(RULE_FIELDS, 'model, and factor or amount');
    const { unit, variant, amount, from_input_tokens: from } = this.fields;
    const model = this.model();
    const isAmount = amount !== undefined;
    this.expectOneWay(model, isAmount);
    const isOfAny = unit === undefined && !isAmount;
    if (!isOfAny && !PRICE_UNITS.some((known) => known === unit))
      this.wrong(['unit'], `must be one of ${PRICE_UNITS.join(', ')}`);
    else if (variant !== undefined && !(typeof variant === 'string' && VARIANT_FORM.test(variant)))
      this.wrong(['variant'], 'must be 1 to 50 letters, digits or any of _ + . -');
    else {
      const mistake = unsoldIn({ model, unit, variant: shownTier(variant), from });
      if (mistake) this.wrong([mistake.field], mistake.rule);
    }
    const rule: DatedRule = {
      model,
      unit: isOfAny ? null : wordOf(unit),
      variant: variant === undefined ? null : wordOf(shownTier(variant)),
      fromInputTokens: from === undefined ? null : this.fromInput(),
      factorMillionths: isAmount ? null : (this.millionths('factor') ?? null),
      amountMicros: isAmount ? (this.millionths('amount') ?? null) : null,
      perQuantity: isAmount ? this.perQuantity() : null,
      effectiveFrom: this.effectiveFrom(),
    };
    return this.mistakes.length > before ? undefined : rule;
  }

  /** A rule is a factor, or an amount of one unit of one model. */
  private expectOneWay(model: string, isAmount: boolean): void {
    const { factor, per_quantity: perQuantity } = this.fields;
    if (isAmount === (factor !== undefined)) this.wrong([], 'must have either factor or amount');
    if (isAmount && model === '*') this.wrong(['model'], 'must name one model where there is an amount');
    if (!isAmount && perQuantity !== undefined) this.wrong(['per_quantity'], 'is allowed only with an amount');
  }
}

export const VARIANT_FORM = /^[\w+.-]{1,50}$/;

/**
 * What a rule names and its model is not sold by, so that it would never apply. Undefined: nothing. A rule for every model names what any
 * of them may be sold by.
 */
export function unsoldIn({
  model,
  unit,
  variant,
  from,
}: Readonly<Record<'model' | 'unit' | 'variant' | 'from', unknown>>): { field: string; rule: string } | undefined {
  if (typeof unit === 'string' && Number(from ?? 0) > 0 && !hasBands(unit))
    return {
      field: 'from_input_tokens',
      rule: `must be left out of a price for one ${unit}: only a vendor's text has bands`,
    };
  if (typeof model !== 'string' || model === '*' || model === '') return undefined;
  const family = familyOf(model);
  const units = unitsOf(model, family?.unit);
  if (typeof unit === 'string' && !units.includes(unit))
    return { field: 'unit', rule: `must be one of ${units.join(', ')}` };
  const variants = variantsOfModel(model, typeof unit === 'string' ? unit : 'input_token');
  return variant === undefined || variant === null || variants.some((each) => each === variant)
    ? undefined
    : { field: 'variant', rule: `must be one of ${variants.join(', ')}` };
}

function variantsOfModel(model: string, unit: string): readonly string[] {
  const family = familyOf(model);
  return family ? (Object.entries(family.variants).find(([id]) => id === model)?.[1] ?? []) : variantsOf(unit);
}

/**
 * What a model cannot be called where a person writes it, to be read after the name of the field: nobody would ever ask for it. A file
 * may hold it, as it may come from an export of what was once written so.
 */
export const mistakeInName = (model: string): string | undefined =>
  model === model.trim() && !/\p{Cc}/u.test(model)
    ? undefined
    : 'must have no blanks at its ends and no control characters';

/** Why a price of the book would never be charged, and the field that says so; undefined: it can be. */
export function uselessPrice({
  model,
  ...sold
}: {
  readonly model: string;
  readonly unit: string;
  readonly variant: string;
  readonly from: number;
}): { field: string; rule: string } | undefined {
  const rule = mistakeInName(model) ?? (model === EVERY_MODEL ? ONE_MODEL : undefined);
  return rule === undefined ? unsoldIn({ model, ...sold }) : { field: 'model', rule };
}

const EVERY_MODEL = '*';
const ONE_MODEL = 'must name one model: * stands for every one in price lists alone';

/** Whether a date begins with a day that there is: a calendar would take the 30th of February for the 2nd of March. */
function isDay(date: string): boolean {
  const day = date.slice(0, 10);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day);
}

class PriceReader extends EntryReader {
  read(): DatedPrice | undefined {
    const before = this.mistakes.length;
    this.expectObject(FIELDS, 'model, unit and amount');
    const model = this.model();
    if (model === EVERY_MODEL) this.wrong(['model'], ONE_MODEL);
    const { unit, variant } = this.soldAs(model);
    const fromInputTokens = this.fromInputTokens(unit);
    const perQuantity = this.perQuantity();
    const amountMicros = this.amount(unit, perQuantity);
    const effectiveFrom = this.effectiveFrom();
    if (this.mistakes.length > before) return undefined;
    return { model, unit, variant, fromInputTokens, amountMicros, perQuantity, effectiveFrom };
  }

  /** A video or an image is sold in the unit and the variants of its family, files by what lies; all else by tokens. */
  private soldAs(model: string): { unit: string; variant: string } {
    const { unit, variant = 'default' } = this.fields;
    const family = familyOf(model);
    const units = unitsOf(model, family?.unit);
    if (model !== '' && !units.some((known) => known === unit)) {
      const near = family ? null : nearestName(model, MODEL_IDS);
      this.wrong(
        ['unit'],
        `must be one of ${units.join(', ')}${near === null ? '' : `, unless the model is "${near}"`}`,
      );
    }
    const variants = variantsOfModel(model, wordOf(unit));
    const known = family ? variant : shownTier(variant);
    if (!variants.some((each) => each === known)) this.wrong(['variant'], `must be one of ${variants.join(', ')}`);
    return { unit: wordOf(unit), variant: wordOf(known) };
  }

  private fromInputTokens(unit: string): number {
    const from = this.fromInput();
    if (from > 0 && !hasBands(unit))
      this.wrong(['from_input_tokens'], `must be left out of a price for one ${unit}: only a vendor's text has bands`);
    return from;
  }

  private amount(unit: string, perQuantity: bigint): Micros {
    const micros = this.millionths('amount') ?? 0n;
    if (!unit.endsWith('token') && unit !== STORAGE_UNIT && micros % perQuantity !== 0n)
      this.wrong(['amount'], `for one ${unit} must be a whole number of millionths`);
    return micros;
  }
}

const VENDORS_UNITS: readonly string[] = [...TOKEN_UNITS, ...FEE_UNITS];

export const PRICE_UNITS: readonly string[] = ['second', 'image', STORAGE_UNIT, ...VENDORS_UNITS, ...TOOL_UNITS];

/** Whether prices of a unit may depend on the input and on the service tier: those of what a vendor does for a text. */
export const hasBands = (unit: string): boolean => VENDORS_UNITS.includes(unit);

export const variantsOf = (unit: string): readonly string[] => (hasBands(unit) ? SERVICE_TIERS : ['default']);

/** The tier under the name that it is sold by: `fast` is `priority`. */
export const shownTier = (variant: unknown): unknown => {
  const tier = serviceTierOf(variant);
  return tier === undefined || tier === 'other' ? variant : tier;
};

function unitsOf(model: string, ofFamily: string | undefined): readonly string[] {
  if (ofFamily !== undefined) return [ofFamily];
  return model === STORAGE_MODEL ? [STORAGE_UNIT] : [...VENDORS_UNITS, ...TOOL_UNITS];
}

/** What is a text where it is right; one that is wrong is refused anyway, and an object may be one that no text can be made of. */
const wordOf = (written: unknown): string => (typeof written === 'string' ? written : '');

function amountIn(written: unknown): Micros | undefined {
  if (typeof written !== 'string' && typeof written !== 'number') return undefined;
  try {
    const micros = parseMicros(String(written));
    return micros < 0n ? undefined : micros;
  } catch {
    return undefined;
  }
}
