import { createWebhookSender, Loop, MaintenanceService, ReconciliationService, RequestLedger } from '#features';
import type { Platform } from '#platform';

/** How often the house is cleaned, in milliseconds. */
const ROUND_MS = 30_000;
/** How often webhooks that are due are looked for, in milliseconds. */
const WEBHOOKS_MS = 250;
/** How often holds of processes that died are looked for, and whether the nightly reconciliation is due. */
const BOOKS_MS = 60_000;

/** A running maintenance worker. */
export interface MaintenanceWorker {
  start(): void;
  /** Takes nothing new and lets what is under way come to its end. */
  stop(): Promise<void>;
}

/**
 * The worker that sends webhooks, removes what has expired, makes the coming months' partitions, gives back what dead
 * processes were holding and reconciles the books once a day. Any number may run at once: they share the work.
 */
export function createMaintenanceWorker(platform: Platform): MaintenanceWorker {
  const maintenance = new MaintenanceService(platform.database, platform.store);
  const webhooks = createWebhookSender(platform);
  const requests = new RequestLedger(platform.database);
  const reconciliation = new ReconciliationService(platform.database);
  const loops = [
    new Loop('maintenance', ROUND_MS, () => maintenance.run()),
    new Loop('webhooks', WEBHOOKS_MS, () => webhooks.sendDue()),
    new Loop('abandoned-holds', BOOKS_MS, async () => (await requests.releaseExpired()) > 0),
    new Loop('reconciliation', BOOKS_MS, async () => {
      await reconciliation.runWhenDue();
      return false;
    }),
  ];
  return {
    start() {
      for (const loop of loops) loop.start();
    },
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
      await webhooks.finished();
    },
  };
}
