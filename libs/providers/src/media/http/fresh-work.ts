import { MEDIA_REASONS, type Operation, type OperationState, type Started } from '#contracts';

/** For how long a vendor may not know yet what it has just taken, in milliseconds: its replicas learn of it one after the other. */
const FRESH_MS = 60_000;

/** The start, with the time at which the work was taken. */
export const takenNow = (started: Started, nowMs = Date.now()): Started =>
  started.kind === 'operation' ? { ...started, operation: { ...started.operation, takenAtMs: nowMs } } : started;

/** The state, but that work which was just taken is not lost because the vendor does not find it. */
export function unlessFresh(state: OperationState, { takenAtMs }: Operation, nowMs = Date.now()): OperationState {
  const isLost = state.state === 'failed' && state.publicReason === MEDIA_REASONS.work_lost.publicReason;
  const isFresh = typeof takenAtMs === 'number' && nowMs - takenAtMs < FRESH_MS;
  return isLost && isFresh ? { state: 'pending' } : state;
}
