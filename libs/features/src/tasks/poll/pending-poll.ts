import type { HeldPoll } from './leased-polls.js';

/** One poll of an operation. */
export interface PendingPoll extends HeldPoll {
  readonly signal: AbortSignal;
  answered: boolean;
  /** Set once the poll got the lease: its claim no longer says when the next poll comes. */
  leased: Promise<void> | null;
  /** Gives up the place of a poll that does not end. */
  leave: () => void;
  /** It did not end in its time: what it still says decides nothing. */
  abandoned: boolean;
  /** Abandons it. Cleared with its end: it would keep the whole poller in memory for a minute more. */
  limit?: NodeJS.Timeout;
}

const nothing = (): void => undefined;

/** The next poll of an operation, not yet begun. `signal` ends it. */
export const pendingPoll = ({ poll, polls, heldUntilMs }: HeldPoll, signal: AbortSignal): PendingPoll => ({
  poll,
  polls: polls + 1,
  heldUntilMs,
  signal,
  answered: false,
  leased: null,
  leave: nothing,
  abandoned: false,
});
