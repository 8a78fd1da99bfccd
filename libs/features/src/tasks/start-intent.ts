import type { Ticket } from '#contracts';
import type { Database, StatementRunner } from '#platform';
import type { MediaAllowance } from '#providers';
import * as starts from './start-statements.js';

/** How many orders a vendor account may have running. */
export interface RunningLimit {
  /** The ids of all its upstreams. */
  readonly upstreams: readonly string[];
  readonly most: number;
  /** As how many this order counts. */
  readonly slots: number;
}

/** What an order takes of the allowance of its upstream. */
export interface AllowanceTake {
  readonly upstream: string;
  readonly allowance: MediaAllowance;
  readonly costMicros: bigint;
}

/** What is written before a vendor is called. */
export interface StartIntent {
  readonly upstream: string;
  readonly vendorAccount: string;
  readonly ticket: Ticket;
  /** Absent: as many orders may run as there are. */
  readonly below?: RunningLimit | undefined;
  /** Absent: it may be handed as many as there are, or has its share already. */
  readonly within?: AllowanceTake | undefined;
  /** It is the sandbox, which makes this only while no upstream is configured. */
  readonly isFallback?: boolean;
}

/** The result of an intent that something else than the task's own state may refuse. */
export interface Intended {
  readonly id: string | null;
  readonly is_full: boolean;
}

/** An allowance of the upstream has no room for the order, for so many milliseconds. */
export interface SpentAllowance {
  readonly spentMs: number;
}

/** `lost`: another attempt has the task. `full`: the account has as many orders running as it may, the sandbox none. */
export type IntentOutcome = 'recorded' | 'lost' | 'full' | SpentAllowance;

export const intendedOutcome = ([row]: readonly Intended[]): IntentOutcome =>
  row?.id ? 'recorded' : row?.is_full === true ? 'full' : 'lost';

/** One order after the other for each vendor account, so that two never count the same room. */
export function intendWithinLimits(
  database: Database,
  values: readonly unknown[],
  { vendorAccount, below, within }: StartIntent,
): Promise<IntentOutcome> {
  return database.transaction(async (transaction) => {
    await transaction.query({ text: starts.LOCK_VENDOR_ACCOUNT, values: [vendorAccount] });
    const spentMs = within && (await spentMsOf(transaction, within));
    if (spentMs !== undefined) return { spentMs };
    const outcome = await intend(transaction, values, below);
    if (outcome === 'recorded' && within)
      await transaction.query({ text: starts.TAKE_ALLOWANCE, values: [within.upstream, within.costMicros] });
    return outcome;
  });
}

async function spentMsOf(
  transaction: StatementRunner,
  { upstream, allowance, costMicros }: AllowanceTake,
): Promise<number | undefined> {
  const { rows } = await transaction.query<{ spent_ms: number | null }>({
    text: starts.SPENT_ALLOWANCE,
    values: [
      upstream,
      costMicros,
      allowance.ordersPerDay ?? null,
      allowance.spendPerDayMicros ?? null,
      allowance.ordersPerMonth ?? null,
      allowance.spendPerMonthMicros ?? null,
    ],
  });
  return rows[0]?.spent_ms ?? undefined;
}

async function intend(
  transaction: StatementRunner,
  values: readonly unknown[],
  below: RunningLimit | undefined,
): Promise<IntentOutcome> {
  const limit = below ? [below.upstreams, below.most, below.slots] : [];
  const text = below ? starts.RECORD_START_INTENT_BELOW : starts.RECORD_START_INTENT;
  return intendedOutcome((await transaction.query<Intended>({ text, values: [...values, ...limit] })).rows);
}
