import { GatewayError } from '#contracts';
import { logger, RATE_WINDOW_SECONDS, type RateCount, type RateCounter } from '#platform';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../access/caller.js';

const log = logger('limits');

/** How long to wait before another try while counts cannot be reached, in milliseconds. */
const STORE_FAILURE_RETRY_MS = 2_000;

/** Headers that tell a client how its limits stand. */
export type LimitHeaders = Readonly<Record<string, string>>;

interface Limit {
  readonly name: 'requests' | 'tokens';
  readonly perMinute: number;
}

/**
 * Requests and tokens per minute of each key. A window of one minute begins with the first request in it. Requests are
 * counted before they run, tokens when they are known: the request that passes the limit of tokens is let through, the
 * next one is not.
 */
export class RateLimits {
  /** Keys seen here whose tokens must be counted. */
  private readonly tokenLimited = new LRUCache<string, true>({ max: 100_000 });

  constructor(
    private readonly counter: RateCounter,
    private readonly onStoreFailure: 'allow' | 'refuse',
  ) {}

  /**
   * Counts a request of a key and answers the headers for it.
   *
   * @throws GatewayError `rate_limit_exceeded` with the time until the window ends; `unavailable` when the counts cannot
   * be reached and the configuration says to refuse then.
   */
  async admit({ apiKeyId, requestsPerMinute, tokensPerMinute }: Caller): Promise<LimitHeaders> {
    const standings: string[] = [];
    const policies: string[] = [];
    for (const limit of limitsOf(requestsPerMinute, tokensPerMinute)) {
      if (limit.name === 'tokens') this.tokenLimited.set(apiKeyId, true);
      const count = await this.count(apiKeyId, limit.name, limit.name === 'requests' ? 1 : 0);
      if (!count) continue;
      policies.push(`"${limit.name}";q=${limit.perMinute};w=${RATE_WINDOW_SECONDS}`);
      standings.push(standing(limit, count));
      const isOver = limit.name === 'requests' ? count.points > limit.perMinute : count.points >= limit.perMinute;
      if (isOver) throw refusal(limit, count);
    }
    return standings.length === 0 ? {} : { 'ratelimit-policy': policies.join(', '), ratelimit: standings.join(', ') };
  }

  /** Counts the tokens of a finished request. Never throws. */
  noteTokens(apiKeyId: string, tokens: number): void {
    if (tokens <= 0 || !this.tokenLimited.has(apiKeyId)) return;
    this.counter
      .add(`tokens:${apiKeyId}`, tokens)
      .catch((error: unknown) => log.warn('tokens.not_counted', { apiKeyId, tokens, error }));
  }

  private async count(apiKeyId: string, name: Limit['name'], points: number): Promise<RateCount | null> {
    try {
      return await this.counter.add(`${name}:${apiKeyId}`, points);
    } catch (error) {
      log.warn('limit.not_counted', { apiKeyId, limit: name, decision: this.onStoreFailure, error });
      if (this.onStoreFailure === 'allow') return null;
      throw new GatewayError('unavailable', 'Rate limits cannot be checked at the moment; try again shortly.', {
        retryAfterMs: STORE_FAILURE_RETRY_MS,
        cause: error,
      });
    }
  }
}

function limitsOf(requestsPerMinute: number | null, tokensPerMinute: number | null): Limit[] {
  return [
    ...(requestsPerMinute === null ? [] : [{ name: 'requests' as const, perMinute: requestsPerMinute }]),
    ...(tokensPerMinute === null ? [] : [{ name: 'tokens' as const, perMinute: tokensPerMinute }]),
  ];
}

const standing = ({ name, perMinute }: Limit, { points, resetsInMs }: RateCount): string =>
  `"${name}";r=${Math.max(0, perMinute - points)};t=${Math.ceil(resetsInMs / 1000)}`;

const refusal = (limit: Limit, count: RateCount): GatewayError =>
  new GatewayError(
    'rate_limit_exceeded',
    `This API key may use ${limit.perMinute} ${limit.name} a minute; more are possible in ${Math.ceil(count.resetsInMs / 1000)} s.`,
    {
      retryAfterMs: count.resetsInMs,
      headers: {
        'ratelimit-policy': `"${limit.name}";q=${limit.perMinute};w=${RATE_WINDOW_SECONDS}`,
        ratelimit: standing(limit, count),
      },
    },
  );
