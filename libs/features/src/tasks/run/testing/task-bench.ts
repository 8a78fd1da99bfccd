import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MediaUpstream } from '#contracts';
import { Cooldowns, type Database, systemClock, timeOrderedId } from '#platform';
import { openPlatform, type Platform, readProcessConfig } from '#runtime';
import { createTestDatabase, uniqueRedisPrefix } from '#testing';
import type { NewTask } from '../../submit/submit-statement.js';
import { type ClaimedTask, RENAMED_COLUMNS, type TaskRow } from '../../task-row.js';
import { TaskWriter } from '../../submit/task-writer.js';
import type { AdvanceTaskService } from '../advance-task.service.js';
import type { PollSchedule } from '../../poll/poll-schedule.js';
import type { SettleTaskService } from '../../settle/settle-task.service.js';
import type { StartStep } from '../../start/start-step.js';
import type { StoreStep } from '../../store/store-step.js';
import { TaskTransitions } from '../../task-transitions.js';
import type { UpstreamLimits } from '../../upstream-limits.js';
import { MediaUpstreams } from '../../../upstreams/media-upstreams.js';
import type { MediaCircuits } from '../../../upstreams/upstream-circuits.js';
import type { AdmissionController } from '../../start/admission-controller.js';
import { createTaskSteps, type StepDeps } from './create-task-steps.js';
import { refuseUnlistedTransitions } from './refuse-unlisted-transitions.js';

/** What every task of the bench holds, in micros: one image. */
export const HOLD_MICROS = 35_000n;

/** How long the bench's worker owns what it claims, in milliseconds. */
const LEASE_MS = 60_000;

/** The parts of an image worker on a database of their own, each to be called alone; only the vendor is fake. */
export interface TaskBench {
  readonly platform: Platform;
  readonly database: Database;
  readonly upstreams: MediaUpstreams;
  readonly cooldowns: Cooldowns;
  readonly admissions: AdmissionController;
  readonly deps: StepDeps;
  readonly circuits: MediaCircuits;
  readonly transitions: TaskTransitions;
  readonly settlement: SettleTaskService;
  readonly schedule: PollSchedule;
  readonly limits: UpstreamLimits;
  readonly start: StartStep;
  readonly store: StoreStep;
  readonly advance: AdvanceTaskService;
  /** A task as a submission leaves it, but for `changes`. */
  newTask(changes?: Partial<NewTask>): NewTask;
  /** Writes a task that waits in the queue. */
  submit(changes?: Partial<NewTask>): Promise<string>;
  /** Makes the task due and takes it, as a worker does. */
  claim(taskId: string): Promise<ClaimedTask>;
  /** Changes columns of a task directly in the database; `assignments` are SQL. */
  change(taskId: string, assignments: string): Promise<void>;
  row(taskId: string): Promise<TaskRow>;
  /** Kinds of the task's ledger entries, in their order. */
  entries(taskId: string): Promise<string[]>;
  close(): Promise<void>;
}

/** A vendor of a test as the only upstream. */
export const upstreamsOf = (vendor: MediaUpstream): MediaUpstreams => MediaUpstreams.of(vendor);

/** Opens the bench with a vendor that stands in for the sandbox. Call `close` in `afterAll`. */
export async function openTaskBench(vendor: MediaUpstream | MediaUpstreams): Promise<TaskBench> {
  const testDatabase = await createTestDatabase();
  const dataDirectory = await mkdtemp(join(tmpdir(), 'gateway-data-'));
  const platform = await openPlatform(
    readProcessConfig({
      ...testDatabase.environment,
      DATABASE_POOL_SIZE: '4',
      KEY_PEPPER: 'a-pepper-for-tests-only',
      DATA_DIR: dataDirectory,
      QUEUE_PREFIX: uniqueRedisPrefix(),
    }),
  );
  const { database } = platform;
  await refuseUnlistedTransitions(database);
  await seedPayer(database);
  return {
    platform,
    database,
    ...workerParts(platform, vendor instanceof MediaUpstreams ? vendor : upstreamsOf(vendor)),
    ...taskAccess(platform),
    close: async () => {
      await platform.close(1_000);
      await testDatabase.remove();
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

function workerParts(platform: Platform, upstreams: MediaUpstreams) {
  const { database, taskSignals } = platform;
  const transitions = new TaskTransitions(database, taskSignals, 'bench', LEASE_MS);
  const cooldowns = new Cooldowns(systemClock);
  return {
    upstreams,
    cooldowns,
    transitions,
    ...createTaskSteps(platform, { transitions, upstreams, cooldowns, leaseMs: LEASE_MS }),
  };
}

function taskAccess({ database, notifier, taskSignals, failpoints }: Platform) {
  const writer = new TaskWriter(database, notifier, failpoints);
  const transitions = new TaskTransitions(database, taskSignals, 'bench', LEASE_MS);
  const change = async (taskId: string, assignments: string): Promise<void> => {
    await database.query({ text: `update task set ${assignments} where id = $1`, values: [taskId] });
  };
  return {
    newTask,
    change,
    submit: async (changes: Partial<NewTask> = {}): Promise<string> => {
      const task = newTask(changes);
      await writer.write(task);
      return task.id;
    },
    claim: async (taskId: string): Promise<ClaimedTask> => {
      await change(taskId, `lease_until = now() - interval '1 second'`);
      const task = (await transitions.claimDue('image', 1_000)).find(({ id }) => id === taskId);
      if (!task) throw new Error(`${taskId} could not be claimed`);
      return task;
    },
    row: async (taskId: string): Promise<TaskRow> => {
      const { rows } = await database.query<TaskRow>({
        text: `select *, ${RENAMED_COLUMNS} from task where id = $1`,
        values: [taskId],
      });
      if (!rows[0]) throw new Error(`there is no task ${taskId}`);
      return rows[0];
    },
    entries: async (taskId: string): Promise<string[]> => {
      const text = 'select kind from ledger_entry where task_id = $1 order by id';
      const { rows } = await database.query<{ kind: string }>({ text, values: [taskId] });
      return rows.map(({ kind }) => kind);
    },
  };
}

const newTask = (changes: Partial<NewTask> = {}): NewTask => ({
  id: timeOrderedId('task'),
  accountId: 'acct_bench',
  apiKeyId: 'key_bench',
  requestId: 'req_bench',
  medium: 'image',
  path: '/v1/images/generations',
  family: 'eta',
  model: 'eta-image-2.0',
  mode: 'text-to-image',
  parameters: { model: 'eta-image-2.0', prompt: 'a lighthouse', size: '1:1', resolution: '1K', n: 1 },
  notices: [],
  billing: { unit: 'image', variant: 'default', settle: 'per-output', quantity: 1 },
  priceId: 'price_bench',
  holdMicros: HOLD_MICROS,
  priority: 0,
  deadlineSeconds: 600,
  webhookUrl: null,
  ...changes,
});

async function seedPayer(database: Database): Promise<void> {
  await database.query({
    text: `with payer as (insert into account (id, name, available_micros) values ('acct_bench', 'bench', 1000000000)),
      price as (insert into price (id, model, unit, amount_micros, effective_from, created_by)
        values ('price_bench', 'eta-image-2.0', 'image', ${HOLD_MICROS}, now(), 'bench'))
      select 1`,
  });
  await database.query({
    text: `insert into api_key (id, account_id, name, prefix, key_hash) values ('key_bench', 'acct_bench', 'k', 'sk', 'k')`,
  });
}
