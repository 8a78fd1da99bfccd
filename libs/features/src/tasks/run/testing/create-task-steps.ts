import type { Cooldowns, SafeFetcher } from '#platform';
import type { Platform } from '#runtime';
import { CallbackAddresses } from '../../poll/vendor-callbacks.js';
import { CallJournal } from '../../start/call-journal.js';
import { MediaCircuits } from '../../../upstreams/upstream-circuits.js';
import { MediaRouter, type MediaUpstreams } from '../../../upstreams/media-upstreams.js';
import { AdmissionController } from '../../start/admission-controller.js';
import { PollSchedule } from '../../poll/poll-schedule.js';
import type { PollerDeps } from '../../poll/upstream-poller.js';
import { SettleTaskService } from '../../settle/settle-task.service.js';
import type { TaskTransitions } from '../../task-transitions.js';
import { AdvanceTaskService } from '../advance-task.service.js';
import { UpstreamSubmitter } from '../../start/upstream-submitter.js';
import { ReferenceCheck, StartStep } from '../../start/start-step.js';
import { type StoreLimits, storeLimitsOf } from '../../store/result-files.js';
import { StoreStep } from '../../store/store-step.js';
import { UpstreamLimits } from '../../upstream-limits.js';

/** What the steps of tasks work with, besides the platform. */
interface StepSurroundings {
  readonly transitions: TaskTransitions;
  readonly upstreams: MediaUpstreams;
  readonly cooldowns: Cooldowns;
  readonly leaseMs: number;
  /** Absent: one of its own. */
  readonly admissions?: AdmissionController;
  /** Absent: as configured. */
  readonly bounds?: StoreLimits;
}

/** The steps of tasks, put together as a worker's module does, each to be called alone. */
export function createTaskSteps(platform: Platform, around: StepSurroundings) {
  const { config, database, notifier, taskSignals, fetcher, store, failpoints, sealer } = platform;
  const { transitions, upstreams, cooldowns, leaseMs, bounds: storeLimits = storeLimitsOf(config.media) } = around;
  const limits = new UpstreamLimits(database);
  const circuits = new MediaCircuits(cooldowns);
  const admissions = around.admissions ?? new AdmissionController(upstreams, circuits, limits);
  const settlement = new SettleTaskService(database, taskSignals, failpoints);
  const schedule = new PollSchedule(database, notifier, taskSignals);
  const deps = {
    schedule,
    transitions,
    settlement,
    limits,
    circuits,
    upstreams,
    fetcher,
    store,
    storeLimits,
    failpoints,
    leaseMs,
  };
  const submitter = new UpstreamSubmitter(
    upstreams,
    admissions,
    circuits,
    limits,
    transitions,
    settlement,
    new CallJournal(database),
    schedule,
    new CallbackAddresses(sealer, undefined),
    fetcher,
    store,
    storeLimits,
    notifier,
    failpoints,
  );
  const references = new ReferenceCheck(fetcher, 10_000, store);
  const router = new MediaRouter(upstreams);
  const start = new StartStep(upstreams, router, references, admissions, submitter, transitions, settlement);
  const storing = storeStepOf(deps);
  const advance = new AdvanceTaskService(transitions, settlement, start, storing);
  return { deps, settlement, schedule, limits, circuits, admissions, start, store: storing, advance };
}

/** What pollers work with, and the step that stores files. */
export interface StepDeps extends PollerDeps {
  readonly fetcher: SafeFetcher;
}

export const storeStepOf = (deps: StepDeps): StoreStep =>
  new StoreStep(
    deps.upstreams,
    deps.circuits,
    deps.transitions,
    deps.settlement,
    deps.fetcher,
    deps.store,
    deps.storeLimits,
    deps.failpoints,
  );
