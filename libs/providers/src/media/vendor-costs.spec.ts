import type { JsonValue } from '#contracts';
import { partsOf } from '../vendor-amounts.js';
import { VendorCosts } from './vendor-costs.js';

const video = (duration: number, resolution = '720p') => ({ model: 'alpha-2.0', parameters: { duration, resolution } });

describe('What an upstream costs by its entry', () => {
  it.each<[said: JsonValue | undefined, parts: bigint | undefined]>([
    [0, 0n],
    [0.025, 25_000_000_000n],
    [0.1, 100_000_000_000n],
    [4.3e-6, 4_300_000n],
    [1e-10, 100n],
    ['0.000000000001', 1n],
    ['1000000', 1_000_000_000_000_000_000n],
    [1_000_000.5, undefined],
    [1e-13, undefined],
    [-1, undefined],
    [Number.NaN, undefined],
    ['1e3', undefined],
    ['', undefined],
    [null, undefined],
    [undefined, undefined],
    [true, undefined],
  ])('reads %p as exactly %p trillionths', (said, parts) => {
    expect(partsOf(said)).toBe(parts);
  });

  it('counts seconds by price variant in whole micros, halves rounded up', () => {
    const costs = new VendorCosts({ unit: 'USD', 'alpha-2.0': { '480p': 0.025, '720p': 0.0550001 } }, 'USD');
    expect(costs.ofOrder(video(5))).toEqual({ micros: 275_001n, unit: 'USD', worthMicros: 275_001n });
    expect(costs.ofOrder(video(4, '480p'))).toEqual({ micros: 100_000n, unit: 'USD', worthMicros: 100_000n });
    expect(costs.ofUnit('alpha-2.0', '720p')).toMatchObject({ micros: 55_000n });
  });

  it('is unknown where it is not configured', () => {
    const costs = new VendorCosts({ unit: 'USD', 'alpha-2.0': { '480p': 0.025 } }, 'USD');
    expect([costs.ofOrder(video(5)), costs.ofUnit('alpha-2.0-fast', '480p')]).toEqual([undefined, undefined]);
  });

  it('turns one unit into another by the configured rate alone', () => {
    const costs = new VendorCosts({ unit: 'CNY', rates: { CNY: 0.14, tokens: '0.0000043' }, 'alpha-2.0': 1 }, 'USD');
    expect(costs.ofUnit('alpha-2.0', '480p')).toEqual({ micros: 1_000_000n, unit: 'CNY', worthMicros: 140_000n });
    expect(costs.valued({ micros: 108_900_000_000n, unit: 'tokens' })).toMatchObject({ worthMicros: 468_270n });
    expect(costs.valued({ micros: 5_000_000n, unit: 'credits' })).toEqual({ micros: 5_000_000n, unit: 'credits' });
    expect(new VendorCosts({ unit: 'CNY', 'alpha-2.0': 1 }, 'USD').ofUnit('alpha-2.0', '480p')).toEqual({
      micros: 1_000_000n,
      unit: 'CNY',
    });
  });

  it('takes the unit of balances at its face, unless a rate says otherwise', () => {
    expect(new VendorCosts({}, 'USD').valued({ micros: 7n, unit: 'USD' })).toMatchObject({ worthMicros: 7n });
    expect(new VendorCosts({ rates: { USD: 2 } }, 'USD').valued({ micros: 7n, unit: 'USD' })).toMatchObject({
      worthMicros: 14n,
    });
  });
});
