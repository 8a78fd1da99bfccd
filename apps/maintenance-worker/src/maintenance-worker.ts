import { Loop, MaintenanceService } from '#features';
import type { Platform } from '#platform';

/** How often the house is cleaned, in milliseconds. */
const ROUND_MS = 30_000;

/** The worker that removes what has expired and makes the coming months' partitions. Any number may run at once. */
export function createMaintenanceWorker({ database, store }: Platform): Loop {
  const maintenance = new MaintenanceService(database, store);
  return new Loop('maintenance', ROUND_MS, () => maintenance.run());
}
