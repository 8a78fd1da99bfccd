import { Injectable, Optional } from '@nestjs/common';
import type { Medium, Micros, TaskState } from '#contracts';
import { Database } from '#platform';
import { encodeTime } from 'ulid';
import { DUE_POLLS, DUE_TASKS, MONEY, type MoneyRow, OPEN_TASKS, WEBHOOKS } from './fleet-sources.js';

/** How many kinds of failure of the last day are listed, and how many deliveries are counted. */
const FAILURES_READ = 5_000;
const FAILED_DELIVERIES_COUNTED = 1_000;
const DAY_MS = 86_400_000;

/** How the whole fleet stands at one moment, for operators. Ages are in seconds. */
export interface FleetState {
  readonly open: readonly { readonly medium: Medium; readonly state: TaskState; readonly open: number }[];
  /** Tasks that no worker took in time. */
  readonly due: readonly { readonly medium: Medium; readonly due: number; readonly oldest: number }[];
  /** Polls of vendors whose time has come. */
  readonly polls: { readonly due: number; readonly oldest: number };
  /** `lag`: how late the oldest delivery is; `failedLately`: given up within a day, at most `FAILED_DELIVERIES_COUNTED`. */
  readonly webhooks: { readonly pending: number; readonly lag: number; readonly failedLately: number };
  /** Of the newest 5,000 tasks submitted within a day that failed. */
  readonly failures: readonly { readonly model: string; readonly error_code: string; readonly failed: number }[];
  readonly money: {
    readonly availableMicros: Micros;
    readonly heldMicros: Micros;
    readonly usedMicros: Micros;
    /** 0 unless the books contradict each other. */
    readonly mismatchMicros: Micros;
  };
}

/** $1 the smallest id of the last day. */
const FAILURES = `
select model, coalesce(error_code, 'unknown') as error_code, count(*)::integer as failed from (
  select model, error_code from task where finished_at is not null and state = 'failed' and id >= $1
  order by id desc limit ${FAILURES_READ}
) latest group by 1, 2 order by failed desc, 1, 2 limit 10`;
const FAILED_DELIVERIES = `
select count(*)::integer as failed from (
  select finished_at from webhook_delivery where state = 'failed' order by id desc limit ${FAILED_DELIVERIES_COUNTED}
) latest where finished_at > now() - interval '1 day'`;

/** Sums up how the fleet stands, from the database alone, so that every replica reports the same. */
@Injectable()
export class FleetStateService {
  constructor(
    private readonly database: Database,
    @Optional() private readonly nowMs: () => number = Date.now,
  ) {}

  async read(): Promise<FleetState> {
    const since = `task_${encodeTime(this.nowMs() - DAY_MS, 10)}`;
    const [open, due, polls, webhooks, failedDeliveries, failures, money] = await Promise.all([
      this.rows<FleetState['open'][number]>(OPEN_TASKS),
      this.rows<FleetState['due'][number]>(DUE_TASKS),
      this.rows<FleetState['polls']>(DUE_POLLS),
      this.rows<{ pending: number; lag: number }>(WEBHOOKS),
      this.rows<{ failed: number }>(FAILED_DELIVERIES),
      this.rows<FleetState['failures'][number]>(FAILURES, [since]),
      this.rows<MoneyRow>(MONEY),
    ]);
    const failedLately = failedDeliveries[0]?.failed ?? 0;
    return {
      open,
      due,
      failures,
      polls: polls[0] ?? { due: 0, oldest: 0 },
      webhooks: { pending: webhooks[0]?.pending ?? 0, lag: webhooks[0]?.lag ?? 0, failedLately },
      money: moneyOf(money[0]),
    };
  }

  private async rows<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.database.ofOperators().query<Row>({ text, values })).rows;
  }
}

const moneyOf = (row: MoneyRow | undefined): FleetState['money'] => ({
  availableMicros: BigInt(row?.available ?? 0),
  heldMicros: BigInt(row?.held ?? 0),
  usedMicros: BigInt(row?.used ?? 0),
  mismatchMicros: BigInt(row?.held_by_keys ?? 0) + BigInt(row?.held_by_tasks ?? 0),
});
