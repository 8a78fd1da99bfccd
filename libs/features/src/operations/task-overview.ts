import type { Medium, TaskState } from '#contracts';
import { Database } from '#platform';
import { isTaskId } from '../tasks/task-id.js';

/** A task as operators look at it: how it stands, never what was asked for. */
export interface OperatorTask {
  readonly id: string;
  readonly account_id: string;
  readonly medium: Medium;
  readonly model: string;
  readonly state: TaskState;
  readonly progress: number;
  readonly attempt: number;
  readonly failures: number;
  readonly last_failure: string | null;
  readonly lease_owner: string | null;
  readonly lease_until: Date | null;
  readonly provider: string | null;
  readonly error_code: string | null;
  readonly hold_micros: bigint;
  readonly charged_micros: bigint | null;
  readonly request_id: string;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly deadline_at: Date;
}

/** A movement of money for one task. */
export interface OperatorEntry {
  readonly kind: string;
  readonly debit: string;
  readonly credit: string;
  readonly amount_micros: bigint;
  readonly created_at: Date;
}

const COLUMNS = `id, account_id, medium, model, state, progress, attempt, failures, last_failure, lease_owner, lease_until,
  provider, error_code, hold_micros, charged_micros, request_id, created_at, started_at, finished_at, deadline_at`;

/** The newest rows only, whatever their state, so that the page costs the same on a large table. */
const RECENT = `
select ${COLUMNS} from (select * from task order by id desc limit 2000) recent
where ($1::text is null or state = $1) order by id desc limit $2`;

const ONE = `select ${COLUMNS} from task where id = $1`;
const ENTRIES = `select kind, debit, credit, amount_micros, created_at from ledger_entry where task_id = $1 order by id`;

/** Tasks of all accounts for the pages of operators. */
export class TaskOverview {
  constructor(private readonly database: Database) {}

  /** The newest tasks, of one state or of any, newest first. */
  async recent(state: TaskState | null, limit: number): Promise<OperatorTask[]> {
    return (await this.database.query<OperatorTask>({ text: RECENT, values: [state, limit] })).rows;
  }

  /** One task with the movements of its money, or null when there is none of that id. */
  async find(taskId: string): Promise<{ task: OperatorTask; entries: OperatorEntry[] } | null> {
    if (!isTaskId(taskId)) return null;
    const [tasks, entries] = await Promise.all([
      this.database.query<OperatorTask>({ text: ONE, values: [taskId] }),
      this.database.query<OperatorEntry>({ text: ENTRIES, values: [taskId] }),
    ]);
    const [task] = tasks.rows;
    return task ? { task, entries: entries.rows } : null;
  }
}
