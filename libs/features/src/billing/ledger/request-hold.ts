import type { Micros } from '#contracts';
import type { RequestUsage } from './request-usage.js';

/** Money to put aside for one request. */
export interface RequestHold {
  readonly accountId: string;
  readonly apiKeyId: string;
  /** Names the request in the ledger; one hold, one capture and one release for each. */
  readonly requestId: string;
  /** 0 to 2^63 - 1 micros. */
  readonly amountMicros: Micros;
  /** Where account and key have less than `amountMicros`, half of what they have is held, but no less than this. */
  readonly leastMicros?: Micros | undefined;
  /** Of a request that may be repeated: it holds only while `requestId` is the attempt that does its work. */
  readonly idempotencyKey?: string | undefined;
  readonly limitedTags?: readonly string[] | undefined;
}

export interface RequestCapture {
  readonly requestId: string;
  /** The price of what was delivered, 0 to 2^63 - 1 micros. */
  readonly chargeMicros: Micros;
  readonly usage: RequestUsage;
  readonly heldMicros: Micros;
}

/** How a request ended whose money is not held any more. */
export interface UnheldCapture extends Omit<RequestCapture, 'heldMicros'> {
  readonly accountId: string;
  readonly apiKeyId: string;
  /** Of a request that may be repeated: it is charged only if no other attempt has taken over. */
  readonly idempotencyKey?: string | undefined;
}

export interface Captured {
  /** What the account paid: the charge, or less when it went beyond the hold and beyond what was left. */
  readonly paidMicros: Micros;
  /** The rest of the charge: a debt of the account. */
  readonly owedMicros: Micros;
}
