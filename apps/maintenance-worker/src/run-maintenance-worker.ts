import { expectBalanceUnit, fleetSources } from '#features';
import { onPlatform, runProcess } from '#runtime';
import { createMaintenanceWorker } from './create-maintenance-worker.js';

await runProcess({
  name: 'maintenance-worker',
  settings: {},
  start: (config) =>
    onPlatform(config, async (platform) => {
      await expectBalanceUnit(platform.database, config.server.BALANCE_UNIT);
      platform.metrics.add(...fleetSources(platform.database));
      const worker = await createMaintenanceWorker(platform);
      worker.start();
      return { ready: 'doing maintenance', stop: () => worker.stop() };
    }),
});
