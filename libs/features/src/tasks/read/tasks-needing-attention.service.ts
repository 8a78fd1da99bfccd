import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#contracts';
import { Database } from '#platform';

/** A task that failed for a reason of ours or that is stuck for an unknown reason. */
export interface TaskNeedingAttention {
  readonly id: string;
  readonly account_id: string;
  readonly model: string;
  readonly state: string;
  readonly provider: string | null;
  readonly attempt: number;
  readonly error_code: string | null;
  readonly failures: number;
  /** Attempts at its last step that ended without a word. */
  readonly lapses: number;
  /** What the last attempt said; never shown to the customer. */
  readonly last_failure: string | null;
  readonly created_at: Date;
  readonly deadline_at: Date;
  readonly finished_at: Date | null;
}

/** Work that a vendor took and that no task holds: the gateway may pay for it. */
export interface UpstreamOrphan {
  readonly task_id: string;
  readonly provider: string;
  readonly operation: JsonObject;
  readonly created_at: Date;
}

/** What an operator should check. Lists of the newest 200 each. */
export interface TasksNeedingAttention {
  /** Given up after error upon error, or because work on it ended processes; the money was released. */
  readonly parked: readonly TaskNeedingAttention[];
  /** Handed to a vendor that never confirmed it; the deadline will release the money. */
  readonly unconfirmed: readonly TaskNeedingAttention[];
  readonly orphans: readonly UpstreamOrphan[];
}

const LISTED_MAX = 200;
const COLUMNS =
  'id, account_id, model, state, provider, error_code, attempt, failures, lapses, last_failure, created_at, deadline_at, finished_at';

const PARKED = `
select ${COLUMNS} from task where error_code in ('parked', 'processing_crashed') order by finished_at desc limit ${LISTED_MAX}`;
/** Through the index of begun steps: queued tasks are never passed. */
const UNCONFIRMED = `
select ${COLUMNS} from task
where state in ('submitting', 'storing') and state = 'submitting' and lease_until = deadline_at
order by deadline_at limit ${LISTED_MAX}`;
const ORPHANS = `
select o.task_id, o.provider, o.operation, o.created_at from upstream_orphan o
where o.resolved_at is null and not exists (select from task t where t.id = o.task_id and t.operation = o.operation)
order by o.created_at desc limit ${LISTED_MAX}`;

/** Finds the tasks that need a human. */
@Injectable()
export class TasksNeedingAttentionService {
  constructor(private readonly database: Database) {}

  async list(): Promise<TasksNeedingAttention> {
    const [parked, unconfirmed, orphans] = await Promise.all([
      this.database.ofOperators().query<TaskNeedingAttention>({ text: PARKED }),
      this.database.ofOperators().query<TaskNeedingAttention>({ text: UNCONFIRMED }),
      this.database.ofOperators().query<UpstreamOrphan>({ text: ORPHANS }),
    ]);
    return { parked: parked.rows, unconfirmed: unconfirmed.rows, orphans: orphans.rows };
  }
}
