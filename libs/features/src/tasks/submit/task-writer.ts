import { Inject, Injectable, Optional } from '@nestjs/common';
import type { Medium, Micros } from '#contracts';
import {
  Batcher,
  type BatcherOptions,
  brokeConstraint,
  Database,
  isConnectionError,
  lruCache,
  REQUEST_RETRY_MS,
  REQUEST_WAIT_MS,
  retryOnConnectionError,
  type StatementRunner,
} from '#platform';
import { FAILPOINTS, type Failpoints, TASK_NOTIFIER, type TaskNotifier } from '#runtime';
import { collectDebts } from '../../billing/ledger/locked-account.js';
import { inDebt, attemptTakenOver } from '../../billing/ledger/payment-refusals.js';
import { type Lacking, SpendLimits } from '../../billing/ledger/spend-limits.js';
import { writeLargeParameters } from '../large-parameters.js';
import { type NewTask, submitStatement, toSubmitRow } from './submit-statement.js';

/** What became of a task: written, or not covered by its key or its account. */
type Written = 'written' | Lacking;

/** A task with the text that the statement gets, made once. */
interface WrittenTask {
  readonly task: NewTask;
  readonly json: string;
  /** Of all its texts, in characters. */
  readonly length: number;
}

interface Outcome {
  readonly accepted: ReadonlySet<string>;
  /** Those whose request another attempt has taken over. */
  readonly lost: ReadonlySet<string>;
  /** Those whose account owes money. */
  readonly inDebt: ReadonlySet<string>;
  /** Those that a limit or the quota of their key does not cover. */
  readonly atLimit: ReadonlySet<string>;
  /** What limited accounts had left after it, by account id. */
  readonly spare: ReadonlyMap<string, Micros>;
}

interface OutcomeRow {
  readonly id: string;
  readonly account_id: string;
  readonly api_key_id: string;
  readonly accepted: boolean;
  readonly lost: boolean;
  readonly in_debt: boolean;
  readonly at_limit: boolean;
  readonly spare: bigint | null;
  readonly key_has_limit: boolean;
}

const NOTHING_WRITTEN: Outcome = {
  accepted: new Set(),
  lost: new Set(),
  inDebt: new Set(),
  atLimit: new Set(),
  spare: new Map(),
};

/** How long a key is taken for one with a limit after the limit was seen, in milliseconds. */
const LIMITED_KEY_MS = 600_000;

const MEBI = 1024 ** 2;
/** What may be written together, and what may wait for it. Sizes in characters, times in milliseconds. */
const BATCHES: BatcherOptions<WrittenTask> = {
  maxItems: 64,
  maxRunsInFlight: 2,
  // Their statements lock the account: a second one would wait in the database for what the first holds.
  keyOf: ({ task }) => task.accountId,
  maxWaiting: 2_000,
  maxWaitMs: REQUEST_WAIT_MS,
  sizes: { of: ({ length }) => length, maxRun: 32 * MEBI, maxWaiting: 256 * MEBI },
};
/** Those with long texts are written one by one, in a transaction each, and keep none of the others waiting. */
const LONG_BATCHES: BatcherOptions<WrittenTask> = { ...BATCHES, maxItems: 1 };

/** A task was refused after its long texts were written: they must go again. */
class NotAccepted extends Error {
  constructor(readonly outcome: Outcome) {
    super('the task was not accepted');
  }
}

/** Writes tasks: money held and row written together, worker called after. */
@Injectable()
export class TaskWriter {
  private readonly batches: Batcher<WrittenTask, PromiseSettledResult<Written>>;
  private readonly longBatches: Batcher<WrittenTask, PromiseSettledResult<Written>>;
  /** Keys that had a quota, or a limit of the day or the month, when they were last written for. */
  private readonly limitedKeys = lruCache<string, true>(50_000, { ttl: LIMITED_KEY_MS });

  constructor(
    private readonly database: Database,
    @Inject(TASK_NOTIFIER) private readonly notifier: TaskNotifier,
    @Inject(FAILPOINTS) private readonly failpoints: Failpoints,
    /** How long a database that is away is tried again, in milliseconds. */
    @Optional() private readonly retryMs = REQUEST_RETRY_MS,
  ) {
    this.batches = new Batcher((tasks) => this.writeBatch(tasks), BATCHES);
    this.longBatches = new Batcher((tasks) => this.writeBatch(tasks), LONG_BATCHES);
  }

  /**
   * Holds the price and writes the task in one commit, then wakes a worker. A wake-up that gets lost costs only time:
   * the sweeper finds the row.
   *
   * @throws GatewayError `insufficient_balance`, `insufficient_key_quota`, `spend_limit_reached`, `overloaded`, `idempotency_in_flight` (another
   * attempt has taken over): nothing was written.
   */
  async write(task: NewTask): Promise<void> {
    const outcome = await (hasLargeParameters(task) ? this.longBatches : this.batches).add(writtenTask(task));
    if (outcome.status === 'rejected') throw outcome.reason;
    if (outcome.value !== 'written') {
      const payer = { ...task, limitedTags: task.attribution?.limitedTags };
      // On the share of the account: refusals cost nothing, so that one may ask for any number of them at once.
      throw await new SpendLimits(this.database.of(task.accountId)).refusal(outcome.value, payer, task.holdMicros);
    }
    this.failpoints.reach('after-task-written');
    this.notifier.notify(task.medium satisfies Medium, [task.id]);
  }

  /**
   * A batch is accepted by account as a whole. A task that was refused together with others is tried alone, because
   * the balance may cover it though not all of them; unless its price is more than what the account was just seen to
   * have, so that a poor account does not hold up its neighbours. An error of the statement, too, sends each task on alone: one bad
   * row must not fail its neighbours. A database that is away fails all of them at once, while their callers still wait.
   */
  private async writeBatch(tasks: readonly WrittenTask[]): Promise<PromiseSettledResult<Written>[]> {
    const together = tasks.length > 1 ? await this.tryTogether(tasks) : NOTHING_WRITTEN;
    const spare = new Map(together.spare);
    const outcomes: PromiseSettledResult<Written>[] = [];
    for (const written of tasks) {
      const { id, accountId, holdMicros } = written.task;
      const isTooMuch = holdMicros > (spare.get(accountId) ?? holdMicros);
      const known: Written | undefined = together.accepted.has(id) ? 'written' : isTooMuch ? 'balance' : undefined;
      const [outcome] =
        known === undefined
          ? await Promise.allSettled([this.writeAlone(written, spare)])
          : [{ status: 'fulfilled' as const, value: known }];
      outcomes.push(outcome);
    }
    return outcomes;
  }

  private async tryTogether(tasks: readonly WrittenTask[]): Promise<Outcome> {
    try {
      return await this.insert(tasks);
    } catch (error) {
      if (isConnectionError(error)) throw error;
      return NOTHING_WRITTEN;
    }
  }

  private async writeAlone(written: WrittenTask, spare: Map<string, Micros>): Promise<Written> {
    try {
      let outcome = await this.insert([written]);
      const { id, accountId: owner } = written.task;
      // Money that came back since, from holds that were released, may pay what is owed.
      if (outcome.inDebt.has(id) && (await collectDebts(this.database, owner)) === 0n)
        outcome = await this.insert([written]);
      if (outcome.inDebt.has(id)) throw inDebt(owner);
      if (outcome.lost.has(id)) throw attemptTakenOver();
      for (const [accountId, micros] of outcome.spare) spare.set(accountId, micros);
      if (outcome.accepted.has(id)) return 'written';
      return outcome.atLimit.has(id) ? 'quota' : 'balance';
    } catch (error) {
      // The key got a quota at this very moment.
      if (brokeConstraint(error, 'api_key_within_quota')) return 'quota';
      if (brokeConstraint(error, 'task_pkey')) return 'written';
      throw error;
    }
  }

  /** A connection that broke may have broken after the commit: before the next try it is looked up what was written. */
  private insert(tasks: readonly WrittenTask[]): Promise<Outcome> {
    this.failpoints.reach('before-task-written');
    let interrupted = false;
    return retryOnConnectionError(async () => {
      const before = interrupted ? await this.writtenBefore(tasks) : NOTHING_WRITTEN;
      if (before.accepted.size > 0) return before;
      interrupted = true;
      const [first] = tasks;
      return first && hasLargeParameters(first.task) ? this.insertLarge(first) : this.submit(this.database, tasks);
    }, this.retryMs);
  }

  private async insertLarge(written: WrittenTask): Promise<Outcome> {
    const { id, largeParameters = [] } = written.task;
    try {
      return await this.database.transaction(async (transaction) => {
        await writeLargeParameters(transaction, id, largeParameters);
        // Last, since it locks the account.
        const outcome = await this.submit(transaction, [written]);
        if (!outcome.accepted.has(id)) throw new NotAccepted(outcome);
        return outcome;
      });
    } catch (error) {
      if (error instanceof NotAccepted) return error.outcome;
      throw error;
    }
  }

  /** Says of a batch that no key of it has a limit, unless one was seen to; the statement finds out whether that is so. */
  private async submit(runner: StatementRunner, tasks: readonly WrittenTask[]): Promise<Outcome> {
    const values = [`[${tasks.map(({ json }) => json).join(',')}]`];
    const hasRepeatable = tasks.some(({ task }) => task.idempotencyKey !== undefined);
    const hasLimitedTags = tasks.some(({ task }) => task.attribution?.limitedTags);
    const run = async (hasLimitedKey: boolean): Promise<readonly OutcomeRow[]> =>
      (await runner.query<OutcomeRow>({ ...submitStatement({ hasRepeatable, hasLimitedKey, hasLimitedTags }), values }))
        .rows;
    const rows = await run(tasks.some(({ task }) => this.limitedKeys.has(task.apiKeyId)));
    const limitedKeys = rows.filter((row) => row.key_has_limit).map(({ api_key_id: id }) => id);
    if (limitedKeys.length === 0) return toOutcome(rows);
    for (const id of limitedKeys) this.limitedKeys.set(id, true);
    return toOutcome(await run(true));
  }

  private async writtenBefore(tasks: readonly WrittenTask[]): Promise<Outcome> {
    const { rows } = await this.database.query<{ id: string }>({
      text: 'select id from task where id = any($1)',
      values: [tasks.map(({ task }) => task.id)],
    });
    return { ...NOTHING_WRITTEN, accepted: new Set(rows.map(({ id }) => id)) };
  }
}

const hasLargeParameters = ({ largeParameters = [] }: NewTask): boolean => largeParameters.length > 0;

function writtenTask(task: NewTask): WrittenTask {
  const json = JSON.stringify(toSubmitRow(task));
  const length = (task.largeParameters ?? []).reduce((sum, text) => sum + text.length, json.length);
  return { task, json, length };
}

const toOutcome = (rows: readonly OutcomeRow[]): Outcome => ({
  accepted: new Set(rows.filter(({ accepted }) => accepted).map(({ id }) => id)),
  lost: new Set(rows.filter(({ lost }) => lost).map(({ id }) => id)),
  inDebt: new Set(rows.filter((row) => row.in_debt).map(({ id }) => id)),
  atLimit: new Set(rows.filter((row) => row.at_limit).map(({ id }) => id)),
  spare: new Map(rows.flatMap((row) => (row.spare === null ? [] : [[row.account_id, row.spare] as const]))),
});
