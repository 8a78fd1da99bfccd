import { Injectable } from '@nestjs/common';
import {
  TASK_EVENT_NAMES,
  type ConsoleEntry,
  type ConsoleTaskEvent,
  type ConsoleUsageRecord,
  formatMicros,
} from '#contracts';
import { AccountEntriesService, type TaskHistory, TaskOverview } from '#features';
import { entryOf, usageRecordOf } from './views.js';

const ENTRIES_SHOWN = 100;

type Name = ConsoleTaskEvent['event'];
const NAMES: Readonly<Record<string, Name | undefined>> = TASK_EVENT_NAMES;

/** The name that a task's owner reads for an event of operators, or null for what is theirs alone. */
export const ownersNameOf = (event: string): Name | null =>
  Object.hasOwn(NAMES, event) ? (NAMES[event] ?? null) : null;

/** What happened to a task, and what moved and was charged for it. */
export interface TaskHistoryForOwner {
  readonly timeline: readonly ConsoleTaskEvent[];
  readonly entries: readonly ConsoleEntry[];
  readonly usage: readonly ConsoleUsageRecord[];
}

/** Tells owners the life of their tasks, out of what operators read. */
@Injectable()
export class ConsoleTaskHistory {
  constructor(
    private readonly overview: TaskOverview,
    private readonly entries: AccountEntriesService,
  ) {}

  async of(accountId: string, taskId: string): Promise<TaskHistoryForOwner> {
    const [history, { items }] = await Promise.all([
      this.overview.find(taskId),
      this.entries.list({ accountId, taskId, requestId: null }, { limit: ENTRIES_SHOWN, cursor: null }),
    ]);
    if (history?.task.account_id !== accountId) return { timeline: [], entries: [], usage: [] };
    return {
      timeline: toTimeline(history),
      entries: items.map(entryOf).toReversed(),
      usage: history.usage.map((row) => toRecord(row, history)),
    };
  }
}

const toTimeline = ({ timeline }: TaskHistory): ConsoleTaskEvent[] =>
  timeline.flatMap(({ time, event, detail }) => {
    const shown = ownersNameOf(event);
    return shown ? [{ time: time.toISOString(), event: shown, detail: toDetail(detail) }] : [];
  });

/** An amount, a code or an address. */
function toDetail(detail: object | null): string | null {
  const { amount_micros, code, url } = (detail ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof amount_micros === 'bigint') return formatMicros(amount_micros);
  const fact = code ?? url;
  return typeof fact === 'string' ? fact : null;
}

/** What operators alone see of a usage record: the vendor, and what it cost. */
interface OperatorsPart {
  readonly upstream: unknown;
  readonly cost_micros: unknown;
  readonly cost_currency: unknown;
  readonly cost_source: unknown;
  readonly cost_worth_micros: unknown;
}

/** A usage record of a task with the fields all tasks share, without what operators alone see. */
function toRecord(row: object, { task }: TaskHistory): ConsoleUsageRecord {
  const { created_at: time, ...all } = row as OperatorsPart & { readonly created_at: Date };
  const { upstream: _vendor, cost_micros: _cost, cost_currency: _currency, cost_source: _source, ...rest } = all;
  const { cost_worth_micros: _worth, ...record } = rest;
  return usageRecordOf({
    ...record,
    time,
    account_id: task.account_id,
    api_key_id: task.api_key_id,
    kind: task.medium,
    model: task.model,
    task_id: task.id,
    request_id: task.request_id,
    owed_micros: 0n,
    input_tokens: 0,
    cached_input_tokens: 0,
    output_tokens: 0,
    reasoning_tokens: 0,
  });
}
