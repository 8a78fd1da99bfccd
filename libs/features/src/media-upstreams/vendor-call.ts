import type { CallFacts, MediaUpstream, Ticket, VendorCall } from '#contracts';
import { NO_FILES } from './reference-files.js';
import { NO_SPOOL } from './result-spool.js';

/** A call to an upstream, with what was noted during it. */
export interface NotedCall {
  readonly call: VendorCall;
  /** The latest of each fact. */
  readonly facts: CallFacts;
}

/** `carries`: what the call brings or takes besides. */
export function notedCall(
  signal: AbortSignal,
  ticket: Ticket,
  carries: Partial<Pick<VendorCall, 'callbackUrl' | 'files' | 'spool'>> = {},
): NotedCall {
  const facts: CallFacts = {};
  const { files = NO_FILES, spool = NO_SPOOL, callbackUrl } = carries;
  const note = (fact: CallFacts): void => void Object.assign(facts, fact);
  const call = { signal, ticket, files, spool, note, ...(callbackUrl !== undefined && { callbackUrl }) };
  return { call, facts };
}

/** The ticket of an order of before tickets were written, or of a call that needs none. */
export const bareTicket = ({ id }: Pick<MediaUpstream, 'id'>, taskId: string): Ticket => ({
  upstream: id,
  model: '',
  taskId,
});
