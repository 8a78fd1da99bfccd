import type { JsonObject, JsonValue } from '#contracts';

const numberOr = (value: JsonValue | undefined, absent: number): number => (typeof value === 'number' ? value : absent);

/** What a schema says of a number. Open bounds are not allowed themselves. */
interface Bounds {
  readonly low: number;
  readonly high: number;
  readonly openLow: number;
  readonly openHigh: number;
}

function boundsOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonObject): Bounds {
  return {
    low: numberOr(minimum, Number.NEGATIVE_INFINITY),
    high: numberOr(maximum, Number.POSITIVE_INFINITY),
    openLow: numberOr(exclusiveMinimum, Number.NEGATIVE_INFINITY),
    openHigh: numberOr(exclusiveMaximum, Number.POSITIVE_INFINITY),
  };
}

/** Numbers worth trying, the plainest first. */
function candidates({ low, high, openLow, openHigh }: Bounds, step: number | undefined): number[] {
  const floor = Math.max(low, openLow);
  const ceiling = Math.min(high, openHigh);
  if (step !== undefined) {
    const first = Math.ceil(floor / step) * step;
    const last = Math.floor(ceiling / step) * step;
    return [1, first, first + step, last, last - step, 0, step];
  }
  return [1, low, high, (floor + ceiling) / 2, floor + 1, ceiling - 1];
}

/** A number that obeys the bounds and the step of a schema; 1 where nothing speaks against it, or where nothing fits. */
export function exampleNumber(schema: JsonObject, wholeNumber: boolean): number {
  const bounds = boundsOf(schema);
  const step = typeof schema['multipleOf'] === 'number' ? schema['multipleOf'] : wholeNumber ? 1 : undefined;
  const fits = (value: number): boolean =>
    Number.isFinite(value) &&
    value >= bounds.low &&
    value <= bounds.high &&
    value > bounds.openLow &&
    value < bounds.openHigh &&
    (step === undefined || value % step === 0);
  return candidates(bounds, step).find(fits) ?? 1;
}
