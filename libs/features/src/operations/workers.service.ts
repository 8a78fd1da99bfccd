import { Injectable } from '@nestjs/common';
import { Database } from '#platform';
import { WORKER_SILENT_MS } from '../observability/worker-heartbeat.js';
import type { ShownRow } from '../paging/page.js';

/** A worker process as operators see it. */
export interface WorkerView extends ShownRow {
  readonly role: string;
  /** `silent`: not heard of for 15 s, so most likely dead. */
  readonly status: 'live' | 'stopping' | 'silent';
}

const WORKERS = `
with held as (
  select lease_owner, count(*)::integer as tasks from task
  where state in ('submitting', 'storing') and lease_owner is not null group by lease_owner
), seen as (
  select w.*, w.seen_at < now() - $1::integer * interval '1 millisecond' as is_silent from worker w
)
select id, role, version, host, pid, case when is_silent then 'silent' when stopping_at is not null then 'stopping' else 'live' end
  as status, concurrency, coalesce(tasks, 0) as tasks_in_hand, started_at, seen_at as last_heartbeat_at
from seen left join held on held.lease_owner = seen.id
where $2::boolean or not is_silent order by role, started_at limit 1000`;

@Injectable()
export class WorkersService {
  constructor(private readonly database: Database) {}

  /** `all`: also those that fell silent within the last day. */
  async list(all: boolean): Promise<WorkerView[]> {
    const values = [WORKER_SILENT_MS, all];
    return (await this.database.ofOperators().query<WorkerView>({ text: WORKERS, values })).rows;
  }
}
