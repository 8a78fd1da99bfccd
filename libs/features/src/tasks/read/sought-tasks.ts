import { encodeTime } from 'ulid';
import type { Medium, PublicTaskStatus } from '#contracts';
import { PUBLIC_STATUS_SQL } from './task-list.js';

/** What tasks are looked for by, all of it together. Null: whatever. */
export interface SoughtTasks {
  readonly accountId: string | null;
  readonly keyId: string | null;
  readonly model: string | null;
  readonly medium: Medium | null;
  /** As clients see it. */
  readonly status: PublicTaskStatus | null;
  /** Unix milliseconds of the submission, both inclusive. */
  readonly createdFromMs: number | null;
  readonly createdToMs: number | null;
}

/** A condition with the value that its `?` stands for; with null it does not narrow. */
type Condition = readonly [text: string, value: unknown];

export const soughtBy = (sought: SoughtTasks, cursor: string | null): Condition[] => [
  ['account_id = ?', sought.accountId],
  ['api_key_id = ?', sought.keyId],
  ['model = ?', sought.model],
  ['medium = ?', sought.medium],
  // The status of an ended task is its state, which has an index. Said twice, the planner would expect far too few.
  [isEnded(sought.status) ? 'state = ?' : `(${PUBLIC_STATUS_SQL}) = ?`, sought.status],
  ['id >= ?', sought.createdFromMs === null ? null : earliestId(sought.createdFromMs)],
  ['id < ?', sought.createdToMs === null ? null : earliestId(sought.createdToMs + 1)],
  ['id < ?', cursor],
];

/** All conditions that narrow, their values behind those that are there. */
export function whereAll(conditions: readonly Condition[], values: unknown[]): string {
  const narrowing = conditions.filter(([, value]) => value !== null);
  return narrowing.map(([text, value]) => text.replaceAll('?', `$${values.push(value)}`)).join(' and ') || 'true';
}

/**
 * The ids of a page, as the common table expression `page`. Open and ended tasks are looked for apart, because the indexes of search hold
 * only what has ended. Of an open status no ended task is looked at: none has it, and all would be read to learn so.
 */
export const pageOfTasks = (
  where: string,
  limit: string,
  status: PublicTaskStatus | null,
): string => `open as materialized (
  select id from task where finished_at is null and ${where}
), ended as (
  select id from task where ${status === null || isEnded(status)} and finished_at is not null and ${where} order by id desc limit ${limit}
), page as (
  select id from (select id from open union all select id from ended) both_kinds order by id desc limit ${limit}
)`;

const isEnded = (status: PublicTaskStatus | null): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled';

/** The smallest id a task of that moment can have. */
const earliestId = (unixMs: number): string => `task_${encodeTime(unixMs, 10)}`;
