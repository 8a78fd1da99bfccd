import { logger } from '#platform';
import type { ClaimedTask } from '../task-row.js';
import type { TaskTransitions } from '../task-transitions.js';

const log = logger('generation');

/** The lease of a task while a worker works on it. `lost` aborts when another worker has the task. */
export class KeptLease {
  private readonly losing = new AbortController();
  private readonly renewal: NodeJS.Timeout;

  constructor(transitions: TaskTransitions, task: ClaimedTask) {
    this.renewal = setInterval(() => {
      transitions.renewLease(task).then(
        (ours) => ours || this.losing.abort(),
        (error: unknown) => log.warn('lease.renewal_failed', { error }),
      );
    }, transitions.renewalMs);
  }

  get lost(): AbortSignal {
    return this.losing.signal;
  }

  /** No renewal follows, so that the lease ends by itself. */
  letGo(): void {
    clearInterval(this.renewal);
  }
}
