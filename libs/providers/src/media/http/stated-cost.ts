import type { JsonObject, VendorCost } from '#contracts';
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
