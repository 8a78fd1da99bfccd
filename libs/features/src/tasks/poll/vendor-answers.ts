import { toUSVString } from 'node:util';
import { isStorable, MediaFailure, type Operation, type OperationState, type ProviderOutput } from '#contracts';

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
export function storableOutputs(outputs: readonly ProviderOutput[]): readonly ProviderOutput[] {
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
