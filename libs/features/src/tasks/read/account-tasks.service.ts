import { Injectable } from '@nestjs/common';
import type { JsonObject, TaskView } from '#contracts';
import { Database } from '#platform';
import { foreignCursor, type Page, pageByLastId, type PageRequest } from '../../paging/page.js';
import { isTaskId } from '../task-row.js';
import { pageOfTasks, type SoughtTasks, soughtBy, whereAll } from './sought-tasks.js';
import { ReadTaskService } from './read-task.service.js';

export interface AccountTasksQuery extends SoughtTasks {
  readonly accountId: string;
  /** A part of the prompt, in any letter case. */
  readonly text: string | null;
}

/** A task with what its owner knows it by. */
export interface AccountTask {
  readonly view: TaskView;
  readonly keyId: string;
  readonly keyName: string;
  /** Its beginning; null when it is not kept any more, or when files stand in the request beside it. */
  readonly prompt: string | null;
}

export interface TaskOrder {
  readonly keyId: string;
  readonly keyName: string;
  readonly prompt: string | null;
  readonly mode: string;
  readonly path: string;
  readonly requestId: string;
  /** Null when it is not kept any more. */
  readonly parameters: JsonObject | null;
  readonly notices: readonly string[];
  readonly quantity: number;
  readonly billingUnit: string;
  readonly billingVariant: string;
}

interface FoundRow {
  readonly id: string;
  readonly key_id: string;
  readonly key_name: string;
  readonly prompt: string | null;
}

const PROMPT_CHARACTERS = 500;
/** Larger requests hold files; to read their prompt would be to read these. */
const PROMPT_IN_BYTES = 200_000;
/** Tasks whose prompts are looked through for one answer. */
export const SEARCHED_MAX = 2_000;

const PROMPT = `case when pg_column_size(t.parameters) < ${PROMPT_IN_BYTES} then left(t.parameters ->> 'prompt', ${PROMPT_CHARACTERS}) end`;
const FOUND = `f.id, k.id as key_id, k.name as key_name, f.prompt from found f join api_key k on k.id = f.api_key_id order by f.id desc`;

const ORDER = `
select k.id as "keyId", k.name as "keyName", ${PROMPT} as prompt, t.mode, t.path, t.request_id as "requestId",
  case when t.parameters = '{}' then null else t.parameters end as parameters, t.notices, t.quantity,
  t.billing_unit as "billingUnit", t.billing_variant as "billingVariant"
from task t join api_key k on k.id = t.api_key_id where t.id = $1 and t.account_id = $2`;

/** The middle of the last 20 that were completed. */
const TYPICAL = `
select percentile_cont(0.5) within group (order by seconds) as seconds from (
  select extract(epoch from finished_at - created_at)::float8 as seconds from task
  where account_id = $1 and model = $2 and finished_at is not null and state = 'completed' order by id desc limit 20) last`;

/** The tasks of an account as its users see them. */
@Injectable()
export class AccountTasks {
  constructor(
    private readonly database: Database,
    private readonly tasks: ReadTaskService,
  ) {}

  /**
   * A page, newest first. Of a search by text it may hold few tasks, or none, before the list ends.
   *
   * @throws GatewayError `invalid_parameter`: no such cursor.
   */
  async list(query: AccountTasksQuery, { limit, cursor }: PageRequest): Promise<Page<AccountTask>> {
    if (cursor !== null && !isTaskId(cursor)) throw foreignCursor();
    const { rows, next } = await this.find(query, limit, cursor);
    return { items: await this.withViews(query.accountId, rows), nextCursor: next };
  }

  async named(accountId: string, taskIds: readonly string[]): Promise<AccountTask[]> {
    const text = `
      with found as (select t.id, t.api_key_id, ${PROMPT} as prompt from task t where t.id = any($1) and t.account_id = $2)
      select ${FOUND}`;
    const { rows } = await this.database.of(accountId).query<FoundRow>({ text, values: [taskIds, accountId] });
    return this.withViews(accountId, rows);
  }

  /** How a task was ordered; null when the account has no such task. */
  async order(accountId: string, taskId: string): Promise<TaskOrder | null> {
    const { rows } = await this.database.of(accountId).query<TaskOrder>({ text: ORDER, values: [taskId, accountId] });
    return rows[0] ?? null;
  }

  /** Seconds from order to result; null when the account has completed none of that model. */
  async typicalSeconds(accountId: string, model: string): Promise<number | null> {
    const { rows } = await this.database
      .of(accountId)
      .query<{ seconds: number | null }>({ text: TYPICAL, values: [accountId, model] });
    const seconds = rows[0]?.seconds ?? null;
    return seconds === null ? null : Math.round(seconds * 10) / 10;
  }

  private async find(query: AccountTasksQuery, limit: number, cursor: string | null) {
    const values: unknown[] = [];
    const where = whereAll(soughtBy(query, cursor), values);
    if (query.text === null) {
      const text = pageText(where, values.push(limit + 1), query);
      const { items, nextCursor } = pageByLastId(
        (await this.database.of(query.accountId).query<FoundRow>({ text, values })).rows,
        limit,
      );
      return { rows: items, next: nextCursor };
    }
    const wanted = values.push(`%${query.text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`);
    const text = searchText(where, wanted, values.push(limit));
    const { rows } = await this.database
      .of(query.accountId)
      .query<FoundRow & { searched: bigint; last_searched: string }>({ text, values });
    return { rows: rows.filter(({ id }) => id !== null), next: nextOfSearch(rows, limit) };
  }

  private async withViews(accountId: string, rows: readonly FoundRow[]): Promise<AccountTask[]> {
    const views = await this.tasks.readMany(
      accountId,
      rows.map(({ id }) => id),
    );
    const byId = new Map(views.map((view) => [view.id, view]));
    return rows.flatMap(({ id, key_id: keyId, key_name: keyName, prompt }) => {
      const view = byId.get(id);
      return view ? [{ view, keyId, keyName, prompt }] : [];
    });
  }
}

const pageText = (where: string, limit: number, query: AccountTasksQuery): string => `
with ${pageOfTasks(where, `$${limit}`, query.status)}, found as (
  select t.id, t.api_key_id, ${PROMPT} as prompt from task t where t.id = any(array(select id from page))
)
select ${FOUND}`;

/** Looks through the newest tasks alone, and says where it stopped. */
function searchText(where: string, wanted: number, limit: number): string {
  return `
with searched as materialized (
  select id from task where ${where} order by id desc limit ${SEARCHED_MAX}
), found as (
  select t.id, t.api_key_id, ${PROMPT} as prompt from task t
  where t.id = any(array(select id from searched)) and ${PROMPT} ilike $${wanted} order by t.id desc limit $${limit}
)
select f.id, k.id as key_id, k.name as key_name, f.prompt, s.searched, s.last_searched
from (select count(*) as searched, min(id) as last_searched from searched) s
left join found f on true left join api_key k on k.id = f.api_key_id order by f.id desc`;
}

function nextOfSearch(
  rows: readonly (FoundRow & { readonly searched: bigint; readonly last_searched: string })[],
  limit: number,
): string | null {
  const [first] = rows;
  if (rows.length === limit && rows.at(-1)?.id) return rows.at(-1)?.id ?? null;
  return first && Number(first.searched) === SEARCHED_MAX ? first.last_searched : null;
}
