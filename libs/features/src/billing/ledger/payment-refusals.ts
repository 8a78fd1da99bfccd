import { formatMicros, GatewayError, type Micros } from '#contracts';

/** What a hold takes, and what is left of a balance or a quota; null where nothing limits it by now. */
export interface Shortfall {
  readonly amountMicros: Micros;
  readonly leftMicros: Micros | null;
}

/** Numbers of a moment at which there was too little. */
function shortBy({ amountMicros, leftMicros }: Shortfall): string {
  if (leftMicros === null || leftMicros >= amountMicros) return '.';
  return `: it takes ${formatMicros(amountMicros)}, and ${formatMicros(leftMicros)} is left.`;
}

/** 402: the balance of the account does not cover a hold. */
export const insufficientBalance = (accountId: string, short: Shortfall): GatewayError =>
  new GatewayError(
    'insufficient_balance',
    `The balance of the account does not cover the price of this request${shortBy(short)}`,
    { log: `account ${accountId} cannot hold ${short.amountMicros} micros` },
  );

/** 402: the account has nothing left for what would cost money every day. */
export const nothingLeft = (accountId: string): GatewayError =>
  new GatewayError(
    'insufficient_balance',
    'The balance of the account is used up, and files cost money every day that they are kept.',
    { log: `account ${accountId} has nothing left` },
  );

/** 402: the account owes for earlier requests, which comes before anything new. */
export const inDebt = (accountId: string): GatewayError =>
  new GatewayError(
    'insufficient_balance',
    'The account owes money for earlier requests, which cost more than its balance had left. A top-up pays that first.',
    { log: `account ${accountId} is in debt` },
  );

/** 402: the account could pay, its key may not. */
export const insufficientKeyQuota = (short: Shortfall): GatewayError =>
  new GatewayError('insufficient_key_quota', `The quota of this API key does not cover the request${shortBy(short)}`);

/** 402: a limit of the day or the month was reached when the hold was tried, and had room a moment later. */
export const limitWasReached = (): GatewayError =>
  new GatewayError(
    'spend_limit_reached',
    'This API key reached a spending limit, counting what its running requests may still cost; try again when one of them has ended.',
  );

/** 409: the request stalled for so long that a repeat of it does the work now. */
export const attemptTakenOver = (): GatewayError =>
  new GatewayError(
    'idempotency_in_flight',
    'This request stalled, and a repeat with the same Idempotency-Key took its place; repeat it to get the answer.',
    { retryAfterMs: 1_000 },
  );
