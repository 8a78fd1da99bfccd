import { encodeTime } from 'ulid';
import { GatewayError, MEDIA, type Medium, PUBLIC_STATUSES, type PublicTaskStatus } from '#contracts';
import type { Statement } from '#platform';
import { TASK_COLUMNS } from './task-view.js';
import { isTaskId } from '../task-row.js';

/** What a page of tasks may be narrowed to. Times are Unix seconds, both bounds inclusive. */
export interface TaskListQuery {
  /** 1 to 100. */
  readonly limit: number;
  /** The last task of the page before; null begins with the newest. */
  readonly cursor: string | null;
  readonly status: PublicTaskStatus | null;
  readonly medium: Medium | null;
  readonly model: string | null;
  readonly createdAfter: number | null;
  readonly createdBefore: number | null;
}

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;
/** The last moment an id can name, in seconds: 2^48 milliseconds. */
const SECONDS_MAX = Math.floor(2 ** 48 / 1000) - 1;
/** How far an id may be from the time at which its task was written, which is the one that is shown: another clock. */
const SLACK_SECONDS = 3_600;

const PARAMETERS = ['limit', 'cursor', 'status', 'type', 'model', 'created_after', 'created_before'] as const;
type Parameter = (typeof PARAMETERS)[number];

/**
 * Reads the query of a list. Unknown names are refused, because a misspelt filter would show what was not asked for.
 *
 * @throws GatewayError `invalid_parameter` or `unknown_parameter` naming the parameter and what is allowed.
 */
export function readTaskListQuery(query: Readonly<Record<string, unknown>>): TaskListQuery {
  const unknown = Object.keys(query).find((name) => !PARAMETERS.some((known) => known === name));
  if (unknown !== undefined) {
    const message = `${unknown.slice(0, 64)} is not a filter of this list: ${PARAMETERS.join(', ')}.`;
    throw new GatewayError('unknown_parameter', message, { param: unknown.slice(0, 64) });
  }
  const given = (name: Parameter): string | null => textOf(name, query[name]);
  const cursor = given('cursor');
  if (cursor !== null && !isTaskId(cursor)) throw refused('cursor', 'must be the next_cursor of an earlier page');
  return {
    limit: whole('limit', given('limit'), 1, LIMIT_MAX) ?? LIMIT_DEFAULT,
    cursor,
    status: oneOf('status', given('status'), PUBLIC_STATUSES),
    medium: oneOf('type', given('type'), MEDIA),
    model: given('model'),
    createdAfter: whole('created_after', given('created_after'), 0, SECONDS_MAX),
    createdBefore: whole('created_before', given('created_before'), 0, SECONDS_MAX),
  };
}

/** `publicStatusOf` for a row. */
export const PUBLIC_STATUS_SQL = `case when finished_at is not null then state
    when state = 'queued' and started_at is null then 'submitted' else 'in_progress' end`;

/** Tasks that are looked at for one page, whatever it is narrowed to. */
export const LOOKED_AT_MAX = 10_000;

const TASKS_PAGE = `
select ${TASK_COLUMNS} from (
  select * from task where account_id = $1 and id < $2 and id >= $3 order by id desc limit ${LOOKED_AT_MAX}
) task
where ($4::text is null or ${PUBLIC_STATUS_SQL} = $4)
  and ($5::text is null or medium = $5) and ($6::text is null or model = $6)
  and ($8::text is null or api_key_id = $8)
  and created_at >= to_timestamp($9::float8) and created_at < coalesce(to_timestamp($10::float8), 'infinity')
order by id desc limit $7`;

const LAST_LOOKED_AT = `
select id from task where account_id = $1 and id < $2 and id >= $3 order by id desc offset ${LOOKED_AT_MAX - 1} limit 1`;

/** One task more than the page holds shows whether there is another page. Ids carry nearly the time, and so narrow what is read. */
export function tasksPage(accountId: string, query: TaskListQuery, apiKeyId: string | null): Statement {
  const { createdAfter, createdBefore } = query;
  const newest = createdBefore === null ? 'task_~' : earliestId(createdBefore + 1 + SLACK_SECONDS);
  const before = query.cursor !== null && query.cursor < newest ? query.cursor : newest;
  const values = [
    accountId,
    before,
    earliestId((createdAfter ?? 0) - SLACK_SECONDS),
    query.status,
    query.medium,
    query.model,
    query.limit + 1,
    apiKeyId,
    createdAfter ?? 0,
    createdBefore === null ? null : createdBefore + 1,
  ];
  return { name: 'tasks_page', text: TASKS_PAGE, values };
}

/** The last task that was looked at for a page that is not full, where there are more behind it. */
export const lastLookedAt = ({ values = [] }: Statement): Statement => ({
  name: 'tasks_looked_at',
  text: LAST_LOOKED_AT,
  values: values.slice(0, 3),
});

const earliestId = (unixSeconds: number): string =>
  `task_${encodeTime(Math.min(Math.max(unixSeconds, 0), SECONDS_MAX) * 1000, 10)}`;

function textOf(name: Parameter, value: unknown): string | null {
  if (value === undefined) return null;
  if (typeof value !== 'string') throw refused(name, 'must be given once');
  return value;
}

function whole(name: Parameter, text: string | null, min: number, max: number): number | null {
  if (text === null) return null;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (number < min || number > max) throw refused(name, `must be a whole number from ${min} to ${max}`);
  return number;
}

function oneOf<Value extends string>(name: Parameter, text: string | null, values: readonly Value[]): Value | null {
  if (text === null) return null;
  const value = values.find((candidate) => candidate === text);
  if (value === undefined) throw refused(name, `must be one of ${values.join(', ')}`);
  return value;
}

const refused = (name: Parameter, rule: string): GatewayError =>
  new GatewayError('invalid_parameter', `${name} ${rule}.`, { param: name });
