import { Injectable } from '@nestjs/common';
import { Database } from '#platform';
import type { ShownRow } from '../../paging/page.js';

/** What an operator should check. Lists of the newest 200 each. */
export interface TasksNeedingAttention {
  /** Given up after error upon error, or because work on it ended processes; the money was released. */
  readonly parked: readonly ShownRow[];
  /** Handed to a vendor that never confirmed it; the deadline will release the money. */
  readonly unconfirmed: readonly ShownRow[];
  /** Work that a vendor took and that no task holds: the gateway may pay for it. */
  readonly orphans: readonly ShownRow[];
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

@Injectable()
export class TasksNeedingAttentionService {
  constructor(private readonly database: Database) {}

  async list(): Promise<TasksNeedingAttention> {
    const [parked, unconfirmed, orphans] = await Promise.all([
      this.database.ofOperators().query<ShownRow>({ text: PARKED }),
      this.database.ofOperators().query<ShownRow>({ text: UNCONFIRMED }),
      this.database.ofOperators().query<ShownRow>({ text: ORPHANS }),
    ]);
    return { parked: parked.rows, unconfirmed: unconfirmed.rows, orphans: orphans.rows };
  }
}
