import { isFinal, type TaskCancellation } from '#contracts';
import type { TaskRow } from '../task-row.js';

const MESSAGES = {
  requested:
    'The vendor is being asked to stop. If it stops, nothing is charged; if the work succeeds first, it is charged.',
  cancelled: 'The task was stopped. The whole hold was released; nothing is charged.',
  too_late: 'The vendor could not stop any more. The task goes on, and is charged if it succeeds.',
  unsupported: 'The vendor of this model cannot stop work. The task goes on, and is charged if it succeeds.',
} as const satisfies Record<TaskCancellation['outcome'], string>;

/** The outcome of a cancellation, for the work and for the money. */
export function describeCancellation(task: TaskRow, requestedAt: Date): TaskCancellation {
  const outcome = outcomeOf(task);
  return { requested: Math.floor(requestedAt.getTime() / 1000), outcome, message: MESSAGES[outcome] };
}

function outcomeOf({ state, cancel_outcome: outcome }: TaskRow): TaskCancellation['outcome'] {
  if (state === 'cancelled') return 'cancelled';
  return outcome ?? (state === 'storing' || isFinal(state) ? 'too_late' : 'requested');
}
