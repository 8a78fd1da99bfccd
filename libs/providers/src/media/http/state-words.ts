import { failedBecause, type JsonValue, type MediaReason, type OperationState } from '#contracts';

/** The word for a state, whichever case it is written in: proxies and new releases of a vendor change that. */
export const stateWord = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' ? value.trim().toLowerCase() : undefined;

/** Words that mean a bad end wherever they are said. */
const BAD_ENDS: ReadonlyMap<string, MediaReason> = new Map(
  Object.entries({
    aborted: 'work_stopped',
    canceled: 'work_stopped',
    cancelled: 'work_stopped',
    error: 'work_failed',
    errored: 'work_failed',
    expired: 'work_expired',
    fail: 'work_failed',
    failed: 'work_failed',
    failure: 'work_failed',
    rejected: 'work_failed',
    terminated: 'work_stopped',
    timed_out: 'work_expired',
    timeout: 'work_expired',
  } as const),
);

/** The end that a vendor tells in a word which its own pages do not have; undefined: the work may continue. */
export function badEndOf(word: string): OperationState | undefined {
  const reason = BAD_ENDS.get(stateWord(word) ?? '');
  return reason && failedBecause(reason);
}
