import { hostname } from 'node:os';
import { type Database, logger, PeriodicTask, VERSION } from '#platform';

const log = logger('workers');

/** How often a worker says that it is alive, at least, and after how long without a word it counts as dead. In milliseconds. */
const BEAT_MS = 5_000;
export const WORKER_SILENT_MS = 15_000;
/** How long the dead are remembered, so that operators see them, in milliseconds. */
const REMEMBERED_MS = 24 * 3_600_000;

export type WorkerRole = 'image-worker' | 'video-worker' | 'maintenance-worker';

/** A worker process, as it says itself. */
export interface WorkerIdentity {
  /** Stands in `lease_owner` of the tasks that it holds. */
  readonly id: string;
  readonly role: WorkerRole;
  /** How many steps it works on at once; null where that has no bound. */
  readonly concurrency: number | null;
}

/** $1 id, $2 role, $3 version, $4 host, $5 pid, $6 concurrency, $7 in ms how long the dead are remembered. */
const BEAT = `
with forgotten as (
  delete from worker where seen_at < now() - $7::bigint * interval '1 millisecond' and id <> $1
)
insert into worker (id, role, version, host, pid, concurrency) values ($1, $2, $3, $4, $5, $6)
on conflict (id) do update set seen_at = now()`;
const STOPPING = `update worker set stopping_at = now(), seen_at = now() where id = $1`;
const GONE = `delete from worker where id = $1`;

/** Tells the fleet that a worker process is alive. What goes wrong here never keeps it from its work. */
export class WorkerHeartbeat {
  private readonly loop: PeriodicTask;

  constructor(
    private readonly database: Database,
    private readonly worker: WorkerIdentity,
    /** Leases of tasks are this long; a worker that takes one over must find its owner silent. */
    leaseMs: number,
  ) {
    this.loop = new PeriodicTask('heartbeat', Math.min(BEAT_MS, leaseMs / 3), async () => {
      await this.beat();
      return false;
    });
  }

  start(): void {
    this.loop.start();
  }

  /** From now on unfinished work does not count as a failure. */
  async stopping(): Promise<void> {
    await this.say('worker_stopping', STOPPING, [this.worker.id]);
  }

  /** It has ended in good order. */
  async gone(): Promise<void> {
    await this.loop.stop();
    await this.say('worker_gone', GONE, [this.worker.id]);
  }

  private beat(): Promise<void> {
    const { id, role, concurrency } = this.worker;
    return this.say('worker_beat', BEAT, [id, role, VERSION, hostname(), process.pid, concurrency, REMEMBERED_MS]);
  }

  private async say(name: string, text: string, values: unknown[]): Promise<void> {
    try {
      await this.database.query({ name, text, values });
    } catch (error) {
      log.warn('worker.heartbeat_failed', { error });
    }
  }
}
