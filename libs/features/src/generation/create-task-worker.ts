import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Medium } from '#contracts';
import type { Platform } from '#platform';
import type { MediaProviderRegistry } from '#providers';
import { AdvanceTaskService } from './advance-task.service.js';
import { ReferenceCheck } from './reference-check.js';
import { SettleTaskService } from './settle-task.service.js';
import { StartStep } from './start-step.js';
import { StoreStep } from './store-step.js';
import { TaskMoves } from './task-moves.js';
import { TaskWorker } from './task-worker.js';
import { VendorPoller } from './vendor-poller.js';

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
  const { database, doorbell, fetcher, store } = platform;
  const owner = `${medium}@${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;
  const moves = new TaskMoves(database, owner);
  const settlement = new SettleTaskService(database);
  const start = new StartStep(moves, settlement, providers, new ReferenceCheck(fetcher));
  const storing = new StoreStep(settlement, providers, store, fetcher);
  const advance = new AdvanceTaskService(moves, settlement, start, storing);
  const worker = new TaskWorker(medium, concurrency, moves, settlement, advance, doorbell);
  const poller = new VendorPoller(moves, settlement, providers, doorbell);
  return {
    start() {
      worker.start();
      poller.start();
    },
    async stop(graceMs) {
      await Promise.all([poller.stop(), worker.stop(graceMs)]);
    },
  };
}
