import { Inject, Injectable } from '@nestjs/common';
import type { Medium, Operation, UpstreamOutput, VendorCost } from '#contracts';
import { Batcher, Database, isConnectionError, lruCache, retryOnConnectionError } from '#platform';
import { TASK_NOTIFIER, TASK_SIGNALS, type TaskNotifier, type TaskSignals } from '#runtime';

/** The schedule of questions to vendors: batches only, so that ten thousand running tasks cost few round trips. */

/**
 * $1 upstream id, $2 most rows, $3 for how long they are held, in ms, $4 the earliest due time to search from. One write for several polls:
 * until the lease ends no other process polls, and then any may, whatever became of the holder.
 *
 * Without $4 every claim would pass over the index entries of all turns that were taken since the last vacuum.
 */
export const CLAIM_POLLS = `
with due as materialized (
  select ctid as row_id, next_poll_at from task_poll
  where provider = $1 and next_poll_at <= now() and next_poll_at > $4::timestamptz
  order by next_poll_at limit $2 for update skip locked
)
update task_poll set next_poll_at = now() + $3::integer * interval '1 millisecond', polls = polls + 1
where ctid = any(array(select row_id from due))
returning task_id, provider as upstream_id, operation, polls, cancel_requested, (select max(next_poll_at) from due) as reached_at`;

/**
 * $1 task ids, $2 delays in ms, $3 whether the request to cancel was known. One that came while the vendor was asked
 * keeps its place at the front; one that the vendor did not answer waits like any question.
 */
export const RESCHEDULE_POLLS = `
update task_poll p set next_poll_at = now() + d.delay * interval '1 millisecond'
from unnest($1::text[], $2::integer[], $3::boolean[]) as d(id, delay, wish_known)
where p.task_id = d.id and (d.wish_known or not p.cancel_requested)
returning p.task_id`;

/** $1 task id. Nothing is left to ask about a task that transitioned on. */
export const UNSCHEDULE_ENDED = `
delete from task_poll where task_id = $1 and not exists (select from task where id = $1 and state = 'running')`;

/** $1 task id, $2 upstream id. What was to be asked later is asked now. */
export const ASK_NOW = `
update task_poll set next_poll_at = now() where task_id = $1 and provider = $2 and next_poll_at > now()`;

/** $1 task ids, $2 percents, $3 least step in percent. Progress only ever grows, and small steps are not worth a write. */
export const SET_PROGRESS = `
update task t set progress = d.percent, version = t.version + 1
from unnest($1::text[], $2::smallint[]) as d(id, percent)
where t.id = d.id and t.state = 'running' and t.progress <= d.percent - $3::smallint
returning t.id`;

/**
 * The vendor is done: any worker may now copy the files. $1 `[{ id, outputs, cost, unit, worth }]`: the cost that the vendor reported,
 * if any, in micros of its unit, and `worth`, the same in the unit of balances.
 */
export const SET_STORING = `
with done as (
  select id, outputs, cost, unit, worth
  from jsonb_to_recordset($1::jsonb) as d(id text, outputs jsonb, cost bigint, unit text, worth bigint)
), transitioned as (
  update task t set state = 'storing', outputs = d.outputs, lease_until = now(), progress = greatest(t.progress, 95),
    produced_at = now(), lapses = 0, sudden_lapses = 0, version = t.version + 1,
    cost_micros = coalesce(d.cost, t.cost_micros), cost_unit = coalesce(d.unit, t.cost_unit),
    cost_worth_micros = case when d.cost is null then t.cost_worth_micros else d.worth end,
    cost_is_reported = t.cost_is_reported or d.cost is not null
  from done d where t.id = d.id and t.state = 'running'
  returning t.id, t.medium
), unscheduled as (
  delete from task_poll where task_id in (select id from done)
)
select id, medium from transitioned`;

/**
 * The schedule is unlogged and empty after a crash of the database; this fills it again from the rows, once, and reads one row
 * whenever there is nothing to fill. The vendors are asked over a second, not all at once.
 */
export const FILL_SCHEDULE = `
with emptied as (
  insert into task_poll_schedule default values on conflict do nothing returning filled
)
insert into task_poll (task_id, provider, operation, next_poll_at, cancel_requested)
select t.id, t.provider, t.operation, now() + random() * interval '1 second', t.cancel_requested_at is not null and t.cancel_outcome is null
from task t
where exists (select from emptied) and t.state = 'running'
on conflict (task_id) do nothing`;

/** Polls may become visible so long after those due at their time were claimed, as transactions end late, in milliseconds. */
const STRAGGLERS_MS = 1_000;
/** How often all due polls are searched, for those that became visible even later, in milliseconds. */
const ALL_TURNS_MS = 5_000;
/** How long after its last poll here an upstream is quiet, in milliseconds: longer than a claim holds. */
const QUIET_AFTER_MS = 10_000;
/** How often a quiet upstream is searched, for polls of which no other process takes care, in milliseconds. */
const QUIET_SEARCH_MS = 1_000;

/**
 * Up to which due time the polls of one vendor have been claimed, in times of the database. Most claims need not search before it, where
 * the index is full of entries not vacuumed yet.
 */
export class PollCursor {
  private reachedAt: Date | undefined;
  private searchedAllAtMs = Number.NEGATIVE_INFINITY;
  private searchedAtMs = Number.NEGATIVE_INFINITY;
  private busyAtMs: number;

  constructor(private readonly nowMs: () => number = () => performance.now()) {
    this.busyAtMs = nowMs();
  }

  /** Whether a search now would only be one of many that find nothing. */
  get isResting(): boolean {
    const nowMs = this.nowMs();
    return nowMs - this.busyAtMs >= QUIET_AFTER_MS && nowMs - this.searchedAtMs < QUIET_SEARCH_MS;
  }

  /** This process knows of a poll to come. */
  expectPoll(): void {
    this.busyAtMs = this.nowMs();
  }

  /** The earliest due time that the next claim searches from. */
  searchFrom(): Date | '-infinity' {
    const nowMs = this.nowMs();
    this.searchedAtMs = nowMs;
    if (this.reachedAt && nowMs - this.searchedAllAtMs < ALL_TURNS_MS)
      return new Date(this.reachedAt.getTime() - STRAGGLERS_MS);
    this.searchedAllAtMs = nowMs;
    return '-infinity';
  }

  /** A claim took all free polls due up to that time. */
  reached(at: Date): void {
    this.reachedAt = at;
    this.expectPoll();
  }
}

/** A vendor operation whose turn has come. */
export interface DuePoll {
  readonly taskId: string;
  readonly upstreamId: string;
  readonly operation: Operation;
  /** How often it was claimed, this time included. */
  readonly claims: number;
  /** The owner wants it stopped. */
  readonly cancelRequested: boolean;
}

interface PollRow {
  readonly task_id: string;
  readonly upstream_id: string;
  readonly operation: Operation;
  readonly polls: number;
  readonly cancel_requested: boolean;
  /** The latest turn of those that were taken together. */
  readonly reached_at: Date;
}

/** When to ask again about a poll. */
interface Delay {
  readonly poll: DuePoll;
  readonly delayMs: number;
}

/** What a vendor has made; `cost` and its `worth` in micros as text. */
interface Finished {
  readonly id: string;
  readonly outputs: readonly UpstreamOutput[];
  readonly cost?: string;
  readonly worth?: string | undefined;
  readonly unit?: string;
}

/** Results that arrive together leave in one statement: one round trip for hundreds of polls. */
const BATCHES = {
  maxItems: 500,
  maxRunsInFlight: 2,
  isItemFault: (error: unknown): boolean => !isConnectionError(error),
} as const;

/** Progress in smaller steps is not worth a write to the task, in percent. */
const PROGRESS_STEP = 5;
/** Of how many tasks the progress is remembered. A forgotten one costs one read of its row. */
const REMEMBERED_TASKS = 50_000;

/** When to ask the vendors again, and what they said. */
@Injectable()
export class PollSchedule {
  private readonly cursors = new Map<string, PollCursor>();
  private readonly reported = lruCache<string, number>(REMEMBERED_TASKS);
  private readonly delays: Batcher<Delay, void>;
  private readonly progress: Batcher<{ taskId: string; percent: number }, void>;
  private readonly done: Batcher<Finished, void>;

  constructor(
    private readonly database: Database,
    @Inject(TASK_NOTIFIER) private readonly notifier: TaskNotifier,
    @Inject(TASK_SIGNALS) private readonly signals: TaskSignals,
  ) {
    this.delays = new Batcher((items) => this.writeDelays(items), BATCHES);
    this.progress = new Batcher((items) => this.writeProgress(items), BATCHES);
    this.done = new Batcher((items) => this.writeDone(items), BATCHES);
  }

  /** Leases the due operations of a vendor. For `holdMs` no other process gets them. */
  async claim(upstreamId: string, limit: number, holdMs: number): Promise<DuePoll[]> {
    const cursor = this.cursorOf(upstreamId);
    if (cursor.isResting) return [];
    const values = [upstreamId, limit, holdMs, cursor.searchFrom()];
    const rows = await this.run<PollRow>('claim_polls', CLAIM_POLLS, values);
    if (rows[0]) cursor.reached(rows[0].reached_at);
    return rows.map((row) => ({
      taskId: row.task_id,
      upstreamId: row.upstream_id,
      operation: row.operation,
      claims: row.polls,
      cancelRequested: row.cancel_requested,
    }));
  }

  /** Work began at an upstream, and is to be asked about soon. */
  expectPoll(upstreamId: string): void {
    this.cursorOf(upstreamId).expectPoll();
  }

  /** Another time than the claim has noted: ask again in `delayMs`, or at once when the owner wants it stopped since then. */
  again(poll: DuePoll, delayMs: number): Promise<void> {
    this.expectPoll(poll.upstreamId);
    return this.delays.add({ poll, delayMs });
  }

  /** Forgets a task that turned out to have transitioned on. */
  async drop(taskId: string): Promise<void> {
    await this.run('unschedule_ended', UNSCHEDULE_ENDED, [taskId]);
  }

  async orderOf(taskId: string): Promise<{ model: string; accountId: string } | undefined> {
    const text = 'select model, account_id as "accountId" from task where id = $1';
    const { rows } = await this.database.query<{ model: string; accountId: string }>({ text, values: [taskId] });
    return rows[0];
  }

  /** `percent` below 95; the rest is for the files. */
  async reportProgress(taskId: string, percent: number): Promise<void> {
    if (percent < (this.reported.get(taskId) ?? 0) + PROGRESS_STEP) return;
    await this.progress.add({ taskId, percent });
    this.reported.set(taskId, percent);
  }

  /** The vendor is done: the files can be fetched, and a worker is called to do it. */
  finish(taskId: string, outputs: readonly UpstreamOutput[], cost?: VendorCost): Promise<void> {
    return this.done.add({ id: taskId, outputs, ...(cost && written(cost)) });
  }

  /** Fills the schedule from the task rows when a crash of the database has emptied it. */
  async fill(): Promise<void> {
    await this.run('fill_schedule', FILL_SCHEDULE, []);
  }

  private cursorOf(upstreamId: string): PollCursor {
    const known = this.cursors.get(upstreamId);
    if (known) return known;
    const cursor = new PollCursor();
    this.cursors.set(upstreamId, cursor);
    return cursor;
  }

  private async writeDelays(items: readonly Delay[]): Promise<void[]> {
    // In the order of ids, so that two batches never wait for each other's rows.
    const sorted = items.toSorted((first, second) => (first.poll.taskId < second.poll.taskId ? -1 : 1));
    const values = [
      sorted.map(({ poll }) => poll.taskId),
      sorted.map(({ delayMs }) => Math.round(delayMs)),
      sorted.map(({ poll }) => poll.cancelRequested),
    ];
    await this.run('reschedule_polls', RESCHEDULE_POLLS, values);
    return items.map(() => undefined);
  }

  private async writeProgress(items: readonly { taskId: string; percent: number }[]): Promise<void[]> {
    const values = [items.map(({ taskId }) => taskId), items.map(({ percent }) => Math.floor(percent)), PROGRESS_STEP];
    const changed = await this.run<{ id: string }>('set_progress', SET_PROGRESS, values);
    if (changed.length > 0) this.signals.publish(changed.map(({ id }) => id));
    return items.map(() => undefined);
  }

  private async writeDone(items: readonly Finished[]): Promise<void[]> {
    const values = [JSON.stringify(items)];
    const transitioned = await this.run<{ id: string; medium: Medium }>('set_storing', SET_STORING, values);
    for (const { id, medium } of transitioned) this.notifier.notifyHereFirst(medium, [id]);
    if (transitioned.length > 0) this.signals.publish(transitioned.map(({ id }) => id));
    return items.map(() => undefined);
  }

  /** Every statement is safe to repeat, so a lost connection is simply tried again. */
  private async run<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    const { rows } = await retryOnConnectionError(() => this.database.query<Row>({ name, text, values }));
    return rows;
  }
}

const written = ({ micros, unit, worthMicros }: VendorCost): Pick<Finished, 'cost' | 'unit' | 'worth'> => ({
  cost: String(micros),
  unit,
  worth: worthMicros?.toString(),
});
