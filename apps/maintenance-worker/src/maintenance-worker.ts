import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  AllowanceLedger,
  createWebhookSender,
  Loop,
  MaintenanceService,
  ReconciliationService,
  RequestLedger,
  UsageDaysService,
  WorkerHeartbeat,
} from '#features';
import type { Platform } from '#runtime';

/** How often expired data is removed, in milliseconds. */
const ROUND_MS = 30_000;
/** How often webhooks that are due are looked for, in milliseconds. */
const WEBHOOKS_MS = 250;
/** How often holds of processes that died, days to sum up and a reconciliation that is due are looked for. */
const BOOKS_MS = 60_000;

/** A running maintenance worker. */
export interface MaintenanceWorker {
  start(): void;
  /** Takes nothing new and lets what is under way come to its end. */
  stop(): Promise<void>;
}

/**
 * The worker that sends webhooks, removes what has expired or is too old, makes the coming months' partitions, gives
 * back what dead processes were holding, sums up each day that is over and reconciles the books once a day. Any number
 * may run at once: they share the work.
 */
export function createMaintenanceWorker(platform: Platform): MaintenanceWorker {
  const maintenance = new MaintenanceService(platform.database, platform.store, platform.config.retention);
  const webhooks = createWebhookSender(platform);
  const requests = new RequestLedger(platform.database);
  const allowances = new AllowanceLedger(platform.database);
  const reconciliation = new ReconciliationService(platform.database);
  const usageDays = new UsageDaysService(platform.database);
  const loops = [
    new Loop('maintenance', ROUND_MS, () => maintenance.run()),
    new Loop('webhooks', WEBHOOKS_MS, () => webhooks.sendDue()),
    new Loop('abandoned-holds', BOOKS_MS, async () => (await requests.releaseExpired()) > 0),
    new Loop('abandoned-allowances', BOOKS_MS, async () => (await allowances.closeExpired()) > 0),
    new Loop('usage-days', BOOKS_MS, () => usageDays.closeDue()),
    new Loop('reconciliation', BOOKS_MS, async () => {
      await reconciliation.runWhenDue();
      return false;
    }),
  ];
  const id = `maintenance@${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`;
  const leaseMs = platform.config.worker.TASK_LEASE_SECONDS * 1000;
  const heartbeat = new WorkerHeartbeat(
    platform.database,
    { id, role: 'maintenance-worker', concurrency: null },
    leaseMs,
  );
  return {
    start() {
      heartbeat.start();
      for (const loop of loops) loop.start();
    },
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
      await webhooks.finished();
      await heartbeat.gone();
    },
  };
}
