import {
  type BalanceUnit,
  dividedHalfUp,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MAX_MICROS,
  type VendorCost,
} from '#contracts';
import type { FieldPath, UpstreamMistake } from './check-fields.js';

/** Amounts of operators are read in trillionths, so that what a token costs is a whole number of them. */
const PLACES = 12;
export const PARTS_PER_UNIT = 1_000_000_000_000n;
export const PARTS_PER_MICRO = 1_000_000n;
const DECIMAL = new RegExp(`^(\\d{1,7})(?:\\.(\\d{1,${PLACES}}))?$`);
const MOST = 1_000_000n * PARTS_PER_UNIT;

/** What an amount must be, to be read after the name of its field. */
export const AMOUNT_RULE = `must be a number from 0 to 1000000 with at most ${PLACES} decimal places`;

/** An amount as a file or the admin API says it, in trillionths. Undefined: it is none, or has too many places. */
export function partsOf(said: JsonValue | undefined): bigint | undefined {
  const text = typeof said === 'number' ? decimalOf(said) : said;
  const match = typeof text === 'string' ? DECIMAL.exec(text) : null;
  if (!match) return undefined;
  const parts = BigInt(match[1] ?? '') * PARTS_PER_UNIT + BigInt((match[2] ?? '').padEnd(PLACES, '0'));
  return parts <= MOST ? parts : undefined;
}

/** An amount in whole micros, what is left of one cut off. */
export function microsOf(said: JsonValue | undefined): bigint | undefined {
  const parts = partsOf(said);
  return parts === undefined ? undefined : parts / PARTS_PER_MICRO;
}

/** The decimal that was written: very small numbers come with an exponent. */
function decimalOf(said: number): string {
  const shortest = String(said);
  if (!shortest.includes('e-')) return shortest;
  const decimal = said.toFixed(PLACES);
  return Number(decimal) === said ? decimal : shortest;
}

/** What one of a unit is worth, in trillionths, from a moment on. */
interface DatedRate {
  readonly parts: bigint;
  /** Milliseconds since 1970. */
  readonly fromMs: number;
}

/** What one of a vendor's units is worth in the unit of balances. Never guessed: one currency has no rate to another. */
export class VendorRates {
  private readonly rates: ReadonlyMap<string, readonly DatedRate[]>;

  /** @param rates those of an entry without mistakes: for each unit one rate, or a list of them by date. */
  constructor(
    rates: JsonValue | undefined,
    private readonly balanceUnit: BalanceUnit,
  ) {
    const said = isJsonObject(rates) ? Object.entries(rates) : [];
    this.rates = new Map(said.map(([unit, rate]) => [unit, datedRates(rate)]));
  }

  /** In trillionths; undefined where nobody set a rate for that moment. */
  at(unit: string, ms: number): bigint | undefined {
    const said = this.rates.get(unit)?.find(({ fromMs }) => fromMs <= ms)?.parts;
    return said ?? (unit === this.balanceUnit ? PARTS_PER_UNIT : undefined);
  }

  /** A cost with what it is worth, where that is known and can be kept. */
  valued({ micros, unit }: VendorCost, ms: number): VendorCost {
    const rate = this.at(unit, ms);
    const worthMicros = rate === undefined ? undefined : dividedHalfUp(micros * rate, PARTS_PER_UNIT);
    return { micros, unit, ...(worthMicros !== undefined && worthMicros <= MAX_MICROS && { worthMicros }) };
  }
}

/** The newest first. */
const datedRates = (said: JsonValue): DatedRate[] =>
  (Array.isArray(said) ? said : [{ rate: said }])
    .flatMap((entry) => {
      const { rate, effective_from: from } = (isJsonObject(entry) ? entry : {}) as JsonObject;
      const parts = partsOf(rate);
      return parts === undefined ? [] : [{ parts, fromMs: momentOf(from) ?? Number.NEGATIVE_INFINITY }];
    })
    .toSorted((one, other) => other.fromMs - one.fromMs);

const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** Milliseconds since 1970. YAML makes a Date of a day. */
function momentOf(said: unknown): number | undefined {
  const text = said instanceof Date ? said.toISOString() : said;
  const ms = Date.parse(typeof text === 'string' && DATE.test(text) ? text : '');
  return Number.isNaN(ms) ? undefined : ms;
}

/** So many rates of one unit may be kept. */
const RATES_MAX = 366;

/** A unit of a vendor to what one of it is worth in the unit of balances: a number, or a list of numbers with their dates. */
export function mistakesInRates(rates: JsonValue, path: FieldPath): UpstreamMistake[] {
  if (!isJsonObject(rates)) return [{ path, rule: 'must name units' }];
  return Object.entries(rates).flatMap(([unit, said]): UpstreamMistake[] => {
    const at = [...path, unit];
    if (!/^\w{1,32}$/.test(unit)) return [{ path: at, rule: 'must be a unit of 1 to 32 letters, digits or _' }];
    if (!Array.isArray(said)) return partsOf(said) === undefined ? [{ path: at, rule: AMOUNT_RULE }] : [];
    if (said.length === 0 || said.length > RATES_MAX)
      return [{ path: at, rule: `must be a rate, or a list of 1 to ${RATES_MAX} rates` }];
    return said.flatMap((entry: JsonValue, index: number) => mistakesInDatedRate(entry, [...at, index]));
  });
}

function mistakesInDatedRate(entry: JsonValue, path: FieldPath): UpstreamMistake[] {
  if (!isJsonObject(entry)) return [{ path, rule: 'must be an object with rate and effective_from' }];
  const { rate, effective_from: from, ...others } = entry;
  return [
    ...Object.keys(others).map((name) => ({ path: [...path, name], rule: 'is not a field of a rate' })),
    ...(partsOf(rate) === undefined ? [{ path: [...path, 'rate'], rule: AMOUNT_RULE }] : []),
    ...(from !== undefined && momentOf(from) === undefined
      ? [{ path: [...path, 'effective_from'], rule: 'must be a day or a moment with its time zone' }]
      : []),
  ];
}

const UNIT = /^[A-Za-z]{1,16}$/;

/** The unit of configured amounts. @param isNeeded whether there are any. */
export const mistakesInUnit = (unit: JsonValue | undefined, isNeeded: boolean, path: FieldPath): UpstreamMistake[] =>
  (isNeeded || unit !== undefined) && !(typeof unit === 'string' && UNIT.test(unit))
    ? [{ path, rule: 'must be 1 to 16 letters, for example USD' }]
    : [];
