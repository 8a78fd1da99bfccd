import type { JsonObject, JsonValue, VendorCost } from '#contracts';
import type { MediaCodec } from './media-codec.js';

/** The most that the database keeps, and what a unit looks like. */
const MOST_MICROS = 2n ** 63n - 1n;
const UNIT = /^\w{1,32}$/;

/** What the vendor takes for an order. What it says that cannot be kept counts as nothing said: it must not lose the order. */
export function statedCost(body: JsonObject, codec: MediaCodec): VendorCost | undefined {
  try {
    const cost = codec.readCost?.(body);
    return cost && cost.micros >= 0n && cost.micros <= MOST_MICROS && UNIT.test(cost.unit) ? cost : undefined;
  } catch {
    return undefined;
  }
}

/** An amount of a text: whole, or with decimal places, of which six count. */
const DECIMAL = /^(\d{1,18})(?:\.(\d{1,18}))?$/;
const PLACES = 6;

/**
 * A cost in millionths of `unit`, from a number or a decimal text: vendors change between the two, and proxies too.
 * Undefined: it is no amount.
 */
export function costIn(unit: string, amount: JsonValue | undefined): VendorCost | undefined {
  const text = typeof amount === 'number' && Number.isFinite(amount) ? decimalOf(amount) : amount;
  const [, whole, parts = ''] = typeof text === 'string' ? (DECIMAL.exec(text.trim()) ?? []) : [];
  if (whole === undefined) return undefined;
  return { micros: BigInt(whole + parts.slice(0, PLACES).padEnd(PLACES, '0')), unit };
}

const decimalOf = (amount: number): string => (Number.isSafeInteger(amount) ? String(amount) : amount.toFixed(PLACES));
