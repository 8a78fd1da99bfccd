import { createWebhookSender, Loop, MaintenanceService } from '#features';
import type { Platform } from '#platform';

/** How often the house is cleaned, in milliseconds. */
const ROUND_MS = 30_000;
/** How often webhooks that are due are looked for, in milliseconds. */
const WEBHOOKS_MS = 250;

/** A running maintenance worker. */
export interface MaintenanceWorker {
  start(): void;
  /** Takes nothing new and lets what is under way come to its end. */
  stop(): Promise<void>;
}

/**
 * The worker that sends webhooks, removes what has expired and makes the coming months' partitions. Any number may run at
 * once: they share the work.
 */
export function createMaintenanceWorker(platform: Platform): MaintenanceWorker {
  const maintenance = new MaintenanceService(platform.database, platform.store);
  const webhooks = createWebhookSender(platform);
  const loops = [
    new Loop('maintenance', ROUND_MS, () => maintenance.run()),
    new Loop('webhooks', WEBHOOKS_MS, () => webhooks.sendDue()),
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
