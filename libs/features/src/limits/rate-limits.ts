import { GatewayError } from '#contracts';
import { logger, lruCache, RATE_WINDOW_SECONDS, type RateCount, type RateCounter } from '#platform';

const log = logger('limits');

/** How long to wait before another try while counts cannot be reached, in milliseconds. */
const STORE_FAILURE_RETRY_MS = 2_000;

/** Headers that report to a client how its limits stand. */
export type LimitHeaders = Readonly<Record<string, string>>;

const NO_HEADERS: LimitHeaders = {};

/** A key, and what it may ask for in a minute; null: as much as it wants. */
export interface LimitedKey {
  readonly apiKeyId: string;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
}

/** Whether anything of a minute bounds the requests of a key. */
export const isLimited = ({ requestsPerMinute, tokensPerMinute }: LimitedKey): boolean =>
  requestsPerMinute !== null || tokensPerMinute !== null;

interface Limit {
  readonly name: 'requests' | 'tokens' | 'free-requests' | 'refused-requests';
  readonly perMinute: number;
}

/**
 * Requests and tokens per minute of each key. A window of one minute begins with the first request in it. Requests are
 * counted before they run, tokens when they are known: the request that passes the limit of tokens is let through, the
 * next one is not.
 */
export class RateLimits {
  /** Keys seen here whose tokens must be counted. */
  private readonly tokenLimited = lruCache<string, true>(100_000);
  /** By account, until when it had too many requests that a vendor refused. */
  private readonly refusedTooOften = lruCache<string, RateCount & { readonly untilMs: number }>(10_000);

  constructor(
    private readonly counter: RateCounter,
    private readonly onStoreFailure: 'allow' | 'refuse',
    /** Of one account, for work that costs nothing. */
    private readonly freePerMinute: number,
  ) {}

  /**
   * Counts a request of a key and answers the headers for it.
   *
   * @throws GatewayError `rate_limit_exceeded` with the time until the window ends; `unavailable` when the counts cannot
   * be reached and the configuration says to refuse then.
   */
  async admit({ apiKeyId, requestsPerMinute, tokensPerMinute }: LimitedKey): Promise<LimitHeaders> {
    const standings: string[] = [];
    const policies: string[] = [];
    for (const limit of limitsOf(requestsPerMinute, tokensPerMinute)) {
      if (limit.name === 'tokens') this.tokenLimited.set(apiKeyId, true);
      const count = await this.count(apiKeyId, limit.name, limit.name === 'requests' ? 1 : 0);
      if (!count) continue;
      policies.push(policy(limit));
      standings.push(standing(limit, count));
      const isOver = limit.name === 'requests' ? count.points > limit.perMinute : count.points >= limit.perMinute;
      if (isOver) throw refusal(limit, count);
    }
    return standings.length === 0 ? NO_HEADERS : headersOf(policies, standings);
  }

  /**
   * Counts a request that costs nothing against the share of its account, and answers the headers for it.
   *
   * @throws GatewayError as `admit`.
   */
  async admitFree(accountId: string): Promise<LimitHeaders> {
    const limit: Limit = { name: 'free-requests', perMinute: this.freePerMinute };
    const count = await this.count(accountId, limit.name, 1);
    if (!count) return NO_HEADERS;
    if (count.points > limit.perMinute) throw refusal(limit, count);
    return headersOf([policy(limit)], [standing(limit, count)]);
  }

  /**
   * Counts a request that its vendor refused for what it holds. It costs nothing, and the rows that tell of it stay, so that an
   * account may have as many as free requests. Never throws.
   */
  noteRefused(accountId: string): void {
    const note = (count: RateCount): void => {
      if (count.points < this.freePerMinute) return;
      this.refusedTooOften.set(accountId, { ...count, untilMs: performance.now() + count.resetsInMs });
    };
    this.counter
      .add(`refused-requests:${accountId}`, 1)
      .then(note)
      .catch((error: unknown) => log.warn('refusal.not_counted', { accountId, error }));
  }

  /** @throws GatewayError `rate_limit_exceeded`: of the account's requests, vendors refused as many within the minute as may be. */
  expectFewRefused(accountId: string): void {
    const over = this.refusedTooOften.get(accountId);
    const resetsInMs = over ? over.untilMs - performance.now() : 0;
    if (!over || resetsInMs <= 0) return;
    throw refusal({ name: 'refused-requests', perMinute: this.freePerMinute }, { points: over.points, resetsInMs });
  }

  /** Counts the tokens of a finished request. Never throws. */
  noteTokens(apiKeyId: string, tokens: number): void {
    if (tokens <= 0 || !this.tokenLimited.has(apiKeyId)) return;
    this.counter
      .add(`tokens:${apiKeyId}`, tokens)
      .catch((error: unknown) => log.warn('tokens.not_counted', { apiKeyId, tokens, error }));
  }

  private async count(whose: string, name: Limit['name'], points: number): Promise<RateCount | null> {
    try {
      return await this.counter.add(`${name}:${whose}`, points);
    } catch (error) {
      log.warn('limit.not_counted', { whose, limit: name, decision: this.onStoreFailure, error });
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

const policy = ({ name, perMinute }: Limit): string => `"${name}";q=${perMinute};w=${RATE_WINDOW_SECONDS}`;

const headersOf = (policies: readonly string[], standings: readonly string[]): LimitHeaders => ({
  'ratelimit-policy': policies.join(', '),
  ratelimit: standings.join(', '),
});

const OWNER = {
  requests: 'This API key',
  tokens: 'This API key',
  'free-requests': 'This account',
  'refused-requests': 'This account',
} as const;

const WHAT = {
  requests: 'requests',
  tokens: 'tokens',
  'free-requests': 'requests that cost nothing',
  'refused-requests': 'requests that a vendor refuses for what they hold',
} as const;

const standing = ({ name, perMinute }: Limit, { points, resetsInMs }: RateCount): string =>
  `"${name}";r=${Math.max(0, perMinute - points)};t=${Math.ceil(resetsInMs / 1000)}`;

const refusal = (limit: Limit, count: RateCount): GatewayError =>
  new GatewayError(
    'rate_limit_exceeded',
    `${OWNER[limit.name]} may use ${limit.perMinute} ${WHAT[limit.name]} a minute; more are possible in ${Math.ceil(count.resetsInMs / 1000)} s.`,
    { retryAfterMs: count.resetsInMs, headers: headersOf([policy(limit)], [standing(limit, count)]) },
  );
