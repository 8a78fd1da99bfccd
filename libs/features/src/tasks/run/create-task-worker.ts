import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Medium } from '#contracts';
import type { MediaProviderRegistry } from '#providers';
import type { Platform } from '#runtime';
import { WorkerHeartbeat } from '../../operations/worker-heartbeat.js';
import { AdvanceTaskService } from './advance-task.service.js';
import { DeadlineKeeper } from './deadline-keeper.js';
import { PollSchedule } from '../poll/poll-schedule.js';
import { ReferenceCheck } from './reference-check.js';
import { SettleTaskService } from '../settle/settle-task.service.js';
import { ABANDON_GRACE_MS, endedWithin } from './step-limit.js';
import { StartStep } from './start-step.js';
import { StoreStep } from './store-step.js';
import { TaskTransitions } from '../task-transitions.js';
import { TaskWorker } from './task-worker.js';
import { UpstreamLimits } from './upstream-limits.js';
import { VendorPoller } from '../poll/vendor-poller.js';

/** A worker process for one medium: it does the steps of its tasks and asks vendors about running ones. */
export interface MediaWorker {
  start(): void;
  /** Takes nothing new and lets what is under way reach a safe point within `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** Builds the worker of a medium. `concurrency`: how many steps it works on at once. */
export function createMediaWorker(
  medium: Medium,
  concurrency: number,
  platform: Platform,
  providers: MediaProviderRegistry,
): MediaWorker {
  const { config, database, notifier, taskSignals, fetcher, store, failpoints } = platform;
  const owner = `${medium}@${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;
  const leaseMs = config.worker.TASK_LEASE_SECONDS * 1000;
  const moves = new TaskTransitions(database, taskSignals, owner, leaseMs);
  const settlement = new SettleTaskService(database, taskSignals, failpoints);
  const schedule = new PollSchedule(database, notifier, taskSignals);
  const limits = new UpstreamLimits(database);
  const references = new ReferenceCheck(fetcher);
  const start = new StartStep({ moves, settlement, providers, references, limits, failpoints });
  const storing = new StoreStep({ moves, settlement, providers, store, fetcher, failpoints });
  const advance = new AdvanceTaskService(moves, settlement, start, storing);
  const worker = new TaskWorker(medium, concurrency, moves, advance, notifier, failpoints);
  const poller = new VendorPoller(providers, { schedule, moves, settlement, limits, failpoints, leaseMs });
  const deadlines = new DeadlineKeeper(medium, moves, settlement, providers);
  const heartbeat = new WorkerHeartbeat(database, { id: owner, role: `${medium}-worker`, concurrency }, leaseMs);
  return {
    start() {
      heartbeat.start();
      worker.start();
      poller.start();
      deadlines.start();
    },
    async stop(graceMs) {
      const stoppingSaid = endedWithin(heartbeat.stopping(), ABANDON_GRACE_MS);
      const stopped = Promise.all([deadlines.stop(), poller.stop(graceMs), worker.stop(graceMs)]);
      // Whatever hangs: this process ends in its time, and what it held is given to others when its leases are over.
      await endedWithin(stopped, graceMs);
      await stoppingSaid;
      await endedWithin(heartbeat.gone(), ABANDON_GRACE_MS);
    },
  };
}
