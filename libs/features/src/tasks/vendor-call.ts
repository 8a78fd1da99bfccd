import { toUSVString } from 'node:util';
import {
  type CallFacts,
  isStorable,
  MediaFailure,
  type MediaUpstream,
  type Operation,
  type OperationState,
  type UpstreamOutput,
  type UpstreamCallRef,
  type VendorCall,
} from '#contracts';
import { logger } from '#platform';
import { NO_FILES } from './start/reference-files.js';
import { withinLimit } from './step-limit.js';
import { NO_SPOOL } from './store/result-files.js';

/** A call to an upstream, with what was noted during it. */
export interface RecordedCall {
  readonly call: VendorCall;
  /** The latest of each fact. */
  readonly facts: CallFacts;
}

/** `carries`: what the call brings or takes besides. */
export function notedCall(
  signal: AbortSignal,
  ticket: UpstreamCallRef,
  carries: Partial<Pick<VendorCall, 'callbackUrl' | 'files' | 'spool'>> = {},
): RecordedCall {
  const facts: CallFacts = {};
  const { files = NO_FILES, spool = NO_SPOOL, callbackUrl } = carries;
  const note = (fact: CallFacts): void => void Object.assign(facts, fact);
  const call = { signal, ticket, files, spool, note, ...(callbackUrl !== undefined && { callbackUrl }) };
  return { call, facts };
}

/** The ticket of an order of before tickets were written, or of a call that needs none. */
export const bareTicket = ({ id }: Pick<MediaUpstream, 'id'>, taskId: string): UpstreamCallRef => ({
  upstream: id,
  model: '',
  taskId,
});

/** The longest a vendor may ask to be left alone, in milliseconds; what it says beyond that is a mistake. */
const LONGEST_WAIT_MS = 3_600_000;

/**
 * Checks what adapters answer. Vendors send anything, and one answer that the database refuses must end in its own
 * task. These functions pass on what can be stored and waited for.
 */

/**
 * A time that a vendor asked us to wait, 0 to 3,600,000 ms. What is no such time counts as 0: the vendor wants a pause but
 * does not say how long.
 */
export function waitMsOf(asked: number | undefined): number | undefined {
  if (asked === undefined) return undefined;
  return asked > 0 ? Math.min(asked, LONGEST_WAIT_MS) : 0;
}

/** A reason as it can be stored: without NUL and broken characters. */
export const storableText = (text: string): string => toUSVString(text).replaceAll('\0', '');

/** @throws MediaFailure `ambiguous`: the vendor took the order under a handle that cannot be kept. */
export function storableOperation(operation: Operation): Operation {
  if (!isStorable(operation)) throw new MediaFailure('ambiguous', 'unanswered');
  return operation;
}

/** @throws MediaFailure `refused`: the vendor is done, but its files cannot be fetched. */
export function storableOutputs(outputs: readonly UpstreamOutput[]): readonly UpstreamOutput[] {
  if (!isStorable(outputs)) throw new MediaFailure('refused', 'nothing_delivered');
  return outputs;
}

/** @throws MediaFailure as `storableOutputs`. */
export function storableState(state: OperationState): OperationState {
  switch (state.state) {
    case 'failed':
      return { ...state, publicReason: storableText(state.publicReason) };
    case 'succeeded':
      storableOutputs(state.outputs);
      return state;
    default: {
      const pollDelayMs = waitMsOf(state.pollDelayMs);
      const { pollDelayMs: _asked, ...rest } = state;
      return pollDelayMs ? { ...rest, pollDelayMs } : rest;
    }
  }
}

const log = logger('generation');

/** The result of asking a vendor to stop; `unanswered`: not known yet. */
type CancelOutcome = 'cancelled' | 'too_late' | 'unsupported' | 'unanswered';

/**
 * Asks a vendor to stop, and waits up to `timeoutMs` for its answer. Never throws: a vendor that cannot be asked to stop can
 * still be asked how it goes.
 */
export async function askToStop(
  upstream: MediaUpstream,
  { taskId, operation }: { readonly taskId: string; readonly operation: Operation },
  timeoutMs: number,
): Promise<CancelOutcome> {
  if (!upstream.cancel) return 'unsupported';
  try {
    const limit = { step: 'cancel', limitMs: timeoutMs } as const;
    return await withinLimit(limit, async (limited) => {
      const { call } = notedCall(limited, bareTicket(upstream, taskId));
      return (await upstream.cancel?.(operation, call)) ?? 'unsupported';
    });
  } catch (error) {
    log.warn('upstream.cancel_failed', { taskId, upstream: upstream.id, error });
    return 'unanswered';
  }
}
