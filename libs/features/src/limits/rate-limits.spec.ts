import type { RateCounter } from '#platform';
import type { Caller } from '../accounts/caller.js';
import { RateLimits } from './rate-limits.js';

/** A counter whose window never ends. */
function countingIn(counts = new Map<string, number>()): RateCounter {
  return {
    add: (key, points) => {
      counts.set(key, (counts.get(key) ?? 0) + points);
      return Promise.resolve({ points: counts.get(key) ?? 0, resetsInMs: 30_500 });
    },
    close: () => undefined,
  };
}

const broken: RateCounter = { add: () => Promise.reject(new Error('away')), close: () => undefined };

const caller = (limits: Partial<Caller>): Caller => ({
  accountId: 'acct_1',
  apiKeyId: 'key_1',
  allowedModels: [],
  tags: [],
  limitedTags: [],
  allowedAddresses: [],
  scopes: [],
  quotaMicros: null,
  requestsPerMinute: null,
  tokensPerMinute: null,
  maxRunningTasks: null,
  priority: 0,
  expiresAt: null,
  ...limits,
});

describe('The limits of a key', () => {
  it('allows as many requests as the key may send in a minute, and reports the rest', async () => {
    const limits = new RateLimits(countingIn(), 'allow', 2);
    const key = caller({ requestsPerMinute: 2 });
    expect(await limits.admit(key)).toEqual({
      'ratelimit-policy': '"requests";q=2;w=60',
      ratelimit: '"requests";r=1;t=31',
    });
    await limits.admit(key);
    await expect(limits.admit(key)).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
      retryAfterMs: 30_500,
      headers: { 'ratelimit-policy': '"requests";q=2;w=60', ratelimit: '"requests";r=0;t=31' },
    });
  });

  it('refuses the request after the one that used up the tokens of the minute', async () => {
    const limits = new RateLimits(countingIn(), 'allow', 2);
    const key = caller({ tokensPerMinute: 100 });
    await limits.admit(key);
    limits.noteTokens(key.apiKeyId, 99);
    await limits.admit(key);
    limits.noteTokens(key.apiKeyId, 50);
    await expect(limits.admit(key)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  });

  it('counts nothing for a key without limits', async () => {
    const limits = new RateLimits(broken, 'refuse', 2);
    expect(await limits.admit(caller({}))).toEqual({});
  });

  it('allows requests while the counter is unavailable, if so configured', async () => {
    const limits = new RateLimits(broken, 'allow', 2);
    expect(await limits.admit(caller({ requestsPerMinute: 1, tokensPerMinute: 1 }))).toEqual({});
  });

  it('refuses them otherwise, and says when to try again', async () => {
    const limits = new RateLimits(broken, 'refuse', 2);
    await expect(limits.admit(caller({ requestsPerMinute: 1 }))).rejects.toMatchObject({
      code: 'unavailable',
      status: 503,
      retryAfterMs: 2_000,
    });
  });
});
