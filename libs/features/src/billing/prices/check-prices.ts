import { familyOf, isJsonObject, type Micros, nearestName, MODEL_IDS, parseMicros, TOOL_UNITS } from '#contracts';
import { nextTurn, Turns, unknownFieldRule } from '#platform';
import { STORAGE_MODEL, STORAGE_UNIT } from './storage-price.js';
import { TOKEN_UNITS } from './text-tariff.js';

/** A price with the moment from which it is in force. */
export interface DatedPrice {
  readonly model: string;
  readonly unit: string;
  readonly variant: string;
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

/** Checked prices, in the order of the list; of use only when there are no mistakes. */
export interface CheckedPrices {
  readonly prices: readonly DatedPrice[];
  readonly mistakes: readonly PriceMistake[];
}

const FIELDS = new Set(['model', 'unit', 'variant', 'amount', 'per_quantity', 'effective_from']);
const PER_QUANTITY_MAX = 1_000_000_000;
const FILE_FIELDS = ['prices', 'effective_from'];
/** 5,000 models with ten prices each. */
export const ENTRIES_MAX = 50_000;
/** So many mistakes are listed; the entries behind them are not looked at. */
const MISTAKES_MAX = 100;
const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/**
 * Reads a list of prices: `{ effective_from?, prices: [{ model, unit, variant?, amount, per_quantity?, effective_from? }] }`.
 * `effective_from` at the top is that of the entries that name none.
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
  const list = isJsonObject(sent) ? sent['prices'] : undefined;
  if (!isJsonObject(sent) || !Array.isArray(list) || list.length === 0 || list.length > ENTRIES_MAX)
    return { prices: [], mistakes: [{ path: ['prices'], rule: `must be a list of 1 to ${ENTRIES_MAX} prices` }] };
  for (const name of Object.keys(sent))
    if (!FILE_FIELDS.includes(name)) mistakes.push({ path: [name], rule: unknownFieldRule(name, FILE_FIELDS) });
  const seen = new Set<string>();
  const prices: DatedPrice[] = [];
  for (const [index, entry] of (list as readonly unknown[]).entries()) {
    if (mistakes.length >= MISTAKES_MAX) break;
    const price = new PriceReader(entry, ['prices', index], sent['effective_from'], mistakes).read();
    if (price) {
      const key = `${price.model}|${price.unit}|${price.variant}|${price.effectiveFrom.getTime()}`;
      if (seen.has(key)) mistakes.push({ path: ['prices', index], rule: 'says the same price and moment twice' });
      seen.add(key);
      prices.push(price);
    }
    yield undefined;
  }
  return { prices, mistakes: mistakes.slice(0, MISTAKES_MAX) };
}

/** Reads one entry, and notes what is wrong with it. */
class PriceReader {
  private readonly fields: Readonly<Record<string, unknown>>;

  constructor(
    private readonly entry: unknown,
    private readonly path: readonly (string | number)[],
    private readonly defaultDate: unknown,
    private readonly mistakes: PriceMistake[],
  ) {
    this.fields = isJsonObject(entry) ? entry : {};
  }

  read(): DatedPrice | undefined {
    const before = this.mistakes.length;
    if (!isJsonObject(this.entry)) this.wrong([], 'must be an object with model, unit and amount');
    for (const name of Object.keys(this.fields))
      if (!FIELDS.has(name)) this.wrong([name], unknownFieldRule(name, [...FIELDS]));
    const model = this.model();
    const { unit, variant } = this.soldAs(model);
    const perQuantity = this.perQuantity();
    const amountMicros = this.amount(unit, perQuantity);
    const effectiveFrom = this.effectiveFrom();
    if (this.mistakes.length > before) return undefined;
    return { model, unit, variant, amountMicros, perQuantity, effectiveFrom };
  }

  private wrong(field: readonly (string | number)[], rule: string): void {
    this.mistakes.push({ path: [...this.path, ...field], rule });
  }

  private model(): string {
    const { model } = this.fields;
    if (typeof model === 'string' && model.length > 0 && model.length <= 200) return model;
    this.wrong(['model'], 'must be a text of 1 to 200 characters');
    return '';
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
    const variants: readonly string[] = family
      ? (Object.entries(family.variants).find(([id]) => id === model)?.[1] ?? [])
      : ['default'];
    if (!variants.some((known) => known === variant)) this.wrong(['variant'], `must be one of ${variants.join(', ')}`);
    return { unit: String(unit), variant: String(variant) };
  }

  private perQuantity(): bigint {
    const { per_quantity: perQuantity = 1 } = this.fields;
    if (Number.isInteger(perQuantity) && Number(perQuantity) >= 1 && Number(perQuantity) <= PER_QUANTITY_MAX)
      return BigInt(Number(perQuantity));
    this.wrong(['per_quantity'], `must be a whole number from 1 to ${PER_QUANTITY_MAX}`);
    return 1n;
  }

  private amount(unit: string, perQuantity: bigint): Micros {
    const micros = amountIn(this.fields['amount']);
    if (micros === undefined)
      this.wrong(['amount'], 'must be a decimal such as "0.25", not below 0, with at most six places');
    else if (!unit.endsWith('token') && unit !== STORAGE_UNIT && micros % perQuantity !== 0n)
      this.wrong(['amount'], `for one ${unit} must be a whole number of millionths`);
    return micros ?? 0n;
  }

  private effectiveFrom(): Date {
    const { effective_from: written = this.defaultDate } = this.fields;
    const text = written instanceof Date ? written.toISOString() : written;
    const date = new Date(typeof text === 'string' && DATE.test(text) ? text : Number.NaN);
    if (Number.isNaN(date.getTime()))
      this.wrong(
        ['effective_from'],
        'must be a day or a moment with its time zone, such as 2026-12-01 or 2026-12-01T00:00:00Z',
      );
    return date;
  }
}

function unitsOf(model: string, ofFamily: string | undefined): readonly string[] {
  if (ofFamily !== undefined) return [ofFamily];
  return model === STORAGE_MODEL ? [STORAGE_UNIT] : [...TOKEN_UNITS, ...TOOL_UNITS];
}

function amountIn(written: unknown): Micros | undefined {
  if (typeof written !== 'string' && typeof written !== 'number') return undefined;
  try {
    const micros = parseMicros(String(written));
    return micros < 0n ? undefined : micros;
  } catch {
    return undefined;
  }
}
