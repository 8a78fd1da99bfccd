import { Injectable } from '@nestjs/common';
import type { CallFacts, VendorCost, VendorWords } from '#contracts';
import { Batcher, Database, logger } from '#platform';

const log = logger('generation');

/** How a call that handed an order over ended. */
export type CallOutcome =
  'taken' | 'finished' | 'busy' | 'unavailable' | 'unfit' | 'refused' | 'unsupported' | 'ambiguous';

/** One call that handed an order to an upstream. */
export interface TaskCall {
  readonly taskId: string;
  readonly attempt: number;
  readonly upstream: string;
  readonly vendorAccount: string;
  readonly startedAtMs: number;
  readonly outcome: CallOutcome;
  readonly words: VendorWords;
  readonly facts: CallFacts;
  readonly cost: VendorCost | undefined;
}

const WRITE = `
insert into task_call (task_id, attempt, upstream, vendor_account, started_at, outcome, vendor_status, vendor_code,
  vendor_message, vendor_request_id, cost_micros, cost_unit)
select task_id, attempt, upstream, vendor_account, now() - ms * interval '1 millisecond', outcome, status, code, message,
  request_id, cost, unit
from jsonb_to_recordset($1::jsonb) as c(task_id text, attempt integer, upstream text, vendor_account text, ms integer,
  outcome text, status integer, code text, message text, request_id text, cost bigint, unit text)`;

/** In characters. */
const LONGEST = { message: 1_000, requestId: 200, code: 100 } as const;

/** NUL is no text for Postgres. */
const cut = (text: string | undefined, most: number): string | undefined =>
  text?.toWellFormed().replaceAll('\0', '').slice(0, most);

/** Writes down the tries of all tasks, many at once and beside the work: a crash loses a line, never a task. */
@Injectable()
export class CallJournal {
  private readonly lines: Batcher<object, void>;

  constructor(database: Database) {
    this.lines = new Batcher(
      async (items): Promise<void[]> => {
        await database.query({ name: 'write_task_calls', text: WRITE, values: [JSON.stringify(items)] });
        return items.map(() => undefined);
      },
      { maxItems: 200, maxRunsInFlight: 1, maxWaiting: 10_000 },
    );
  }

  note({ startedAtMs, words, facts, cost, ...call }: TaskCall): void {
    const line = {
      task_id: call.taskId,
      attempt: call.attempt,
      upstream: call.upstream,
      vendor_account: call.vendorAccount,
      outcome: call.outcome,
      ms: Math.round(Math.max(0, performance.now() - startedAtMs)),
      status: words.status ?? facts.status,
      code: cut(words.code ?? facts.code, LONGEST.code),
      message: cut(words.message, LONGEST.message),
      request_id: cut(facts.requestId, LONGEST.requestId),
      cost: cost && String(cost.micros),
      unit: cost?.unit,
    };
    this.lines.add(line).catch((error: unknown) => log.warn('upstream.call_not_noted', { taskId: call.taskId, error }));
  }
}
