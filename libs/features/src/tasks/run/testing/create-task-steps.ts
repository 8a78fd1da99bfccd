import type { Cooldowns } from '#platform';
import type { Platform } from '#runtime';
import { CallbackAddresses } from '../../poll/vendor-callbacks.js';
import { CallJournal } from '../../start/call-journal.js';
import { MediaCircuits } from '../../../upstreams/upstream-circuits.js';
import { MediaRouter, type MediaUpstreams } from '../../../upstreams/media-upstreams.js';
import { StartGate } from '../../start/admission-controller.js';
import { PollSchedule } from '../../poll/poll-schedule.js';
import { SettleTaskService } from '../../settle/settle-task.service.js';
import type { TaskTransitions } from '../../task-transitions.js';
import { AdvanceTaskService } from '../advance-task.service.js';
import { HandedOver, HandOver } from '../../start/upstream-submitter.js';
import { ReferenceCheck } from '../../start/reference-check.js';
import { StartStep } from '../../start/start-step.js';
import { type StoreLimits, storeLimitsOf } from '../../store/result-files.js';
import { StoreStep } from '../../store/store-step.js';
import { UpstreamLimits } from '../../upstream-limits.js';
import { WorkerParts } from '../worker-parts.js';

/** What the steps of tasks work with, besides the platform. */
interface StepSurroundings {
  readonly transitions: TaskTransitions;
  readonly upstreams: MediaUpstreams;
  readonly cooldowns: Cooldowns;
  readonly leaseMs: number;
  /** Absent: one of its own. */
  readonly gate?: StartGate;
  /** Absent: as configured. */
  readonly bounds?: StoreLimits;
}

/** The steps of tasks, put together as a worker's module does, each to be called alone. */
export function createTaskSteps(platform: Platform, around: StepSurroundings) {
  const { config, database, notifier, taskSignals, fetcher, store, failpoints, sealer } = platform;
  const { transitions, upstreams, cooldowns, leaseMs, bounds = storeLimitsOf(config.media) } = around;
  const limits = new UpstreamLimits(database);
  const circuits = new MediaCircuits(cooldowns);
  const parts = new WorkerParts(
    transitions,
    new SettleTaskService(database, taskSignals, failpoints),
    new PollSchedule(database, notifier, taskSignals),
    limits,
    new ReferenceCheck(fetcher, 10_000, store),
    upstreams,
    new MediaRouter(upstreams),
    circuits,
    around.gate ?? new StartGate(upstreams, circuits, limits),
    new CallJournal(database),
    fetcher,
    new CallbackAddresses(sealer, undefined),
    store,
    failpoints,
    notifier,
    bounds,
    leaseMs,
  );
  const handedOver = new HandedOver(parts);
  const start = new StartStep(parts, new HandOver(parts, handedOver), handedOver);
  const storing = new StoreStep(parts);
  const { settlement, schedule, gate } = parts;
  const advance = new AdvanceTaskService(transitions, settlement, start, storing);
  return { parts, settlement, schedule, limits, gate, start, store: storing, advance };
}
