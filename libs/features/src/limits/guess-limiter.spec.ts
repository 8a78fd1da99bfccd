import type { RateCounter } from '#platform';
import { GuessLimiter } from './guess-limiter.js';

const LIMITS = { subject: 'test', free: 5, waitingPerAddress: 3, freeInAll: 40 };

/** Counts as one shared by replicas would. */
function counterOf(): Pick<RateCounter, 'add'> {
  const points = new Map<string, number>();
  return {
    add: async (key, more) => {
      points.set(key, (points.get(key) ?? 0) + more);
      return { points: points.get(key) ?? 0, resetsInMs: 60_000 };
    },
  };
}

describe('Guessing', () => {
  /** How long each guess was delayed, in milliseconds and in their order. */
  let delays: number[];
  beforeEach(() => {
    delays = [];
  });
  const limiterOf = (counter = counterOf()) =>
    new GuessLimiter(LIMITS, counter, async (delayMs) => {
      delays.push(delayMs);
    });
  const wrong = (limiter: GuessLimiter, address: string) => limiter.check({ address }, () => null);
  async function guess(limiter: GuessLimiter, address: string, times: number): Promise<void> {
    for (let count = 0; count < times; count += 1) await wrong(limiter, address);
  }

  it('delays an address increasingly after a few wrong guesses, and still accepts a right one', async () => {
    const limiter = limiterOf();
    await guess(limiter, '203.0.113.1', 5);
    expect(delays).toEqual([]);
    await guess(limiter, '203.0.113.1', 2);
    expect(await limiter.check({ address: '203.0.113.1' }, () => 'open')).toBe('open');
    expect(delays).toEqual([100, 200, 300]);
  });

  it('is refused unchecked when an address guesses many times at once', async () => {
    const limiter = limiterOf();
    await guess(limiter, '203.0.113.1', 5);
    let looked = 0;
    const guesses = Array.from({ length: 50 }, () =>
      limiter.check({ address: '203.0.113.1' }, () => {
        looked += 1;
        return null;
      }),
    );
    const outcomes = await Promise.allSettled(guesses);
    expect(looked).toBe(3);
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(47);
    expect(refused[0]).toMatchObject({ reason: { code: 'rate_limit_exceeded' } });
  });

  it('does not delay other addresses', async () => {
    const limiter = limiterOf();
    await guess(limiter, '203.0.113.1', 6);
    expect(await limiter.check({ address: '203.0.113.2' }, () => 'open')).toBe('open');
    expect(delays).toEqual([100]);
    expect([limiter.isSlowed('203.0.113.1'), limiter.isSlowed('203.0.113.2')]).toEqual([true, false]);
  });

  it('counts the addresses of one IPv6 network together, and a wrapped IPv4 address as itself', async () => {
    const limiter = limiterOf();
    for (let host = 1; host <= 5; host += 1) await wrong(limiter, `2001:db8:1:2::${host}`);
    expect(limiter.isSlowed('2001:db8:1:2:ffff::1')).toBe(true);
    expect(limiter.isSlowed('2001:db8:1:3::1')).toBe(false);
    await guess(limiter, '::ffff:203.0.113.9', 5);
    expect(limiter.isSlowed('203.0.113.9')).toBe(true);
  });

  it('from many addresses delays all that were never right, and not those that were', async () => {
    const limiter = limiterOf();
    await limiter.check({ address: '198.51.100.1' }, () => 'open');
    for (let host = 0; host < 40; host += 1) await wrong(limiter, `203.0.113.${host}`);
    expect(await limiter.check({ address: '198.51.100.1' }, () => 'open')).toBe('open');
    expect(delays).toEqual([]);
    expect(await limiter.check({ address: '198.51.100.2' }, () => 'open')).toBe('open');
    expect(delays).toEqual([1_000]);
  });

  it('at one replica is shared with the others by the next wrong guess', async () => {
    const counter = counterOf();
    const [one, other] = [limiterOf(counter), limiterOf(counter)];
    await guess(one, '203.0.113.1', 5);
    await wrong(other, '203.0.113.1');
    expect(other.isSlowed('203.0.113.1')).toBe(true);
  });
});
