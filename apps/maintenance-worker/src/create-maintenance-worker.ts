import { createWorker, type Platform } from '#runtime';
import { MaintenanceWorkerModule } from './maintenance-worker.module.js';
import { MaintenanceWorker } from './maintenance-worker.js';

/** The worker that does what no request waits for. */
export const createMaintenanceWorker = (platform: Platform): Promise<MaintenanceWorker> =>
  createWorker(MaintenanceWorkerModule.register(platform), MaintenanceWorker);
