import { retryDelayMs } from './webhook-sender.js';

describe('retryDelayMs', () => {
  it('retries ten times over at least 24 hours with growing delays, and then gives up', () => {
    const delays = Array.from({ length: 9 }, (_, index) => retryDelayMs(index + 1, () => 0.5) ?? 0);
    expect(delays.reduce((sum, delay) => sum + delay, 0)).toBeGreaterThan(24 * 3_600_000);
    expect(delays).toEqual(delays.toSorted((first, second) => first - second));
    expect(retryDelayMs(10)).toBeNull();
  });
});
