import { fleetSources } from '#features';
import { type Platform, publicBaseUrl, type RunningProcess } from '#platform';
import { openMediaProviders } from '#providers';
import { createApi } from '../../api/src/create-api.js';
import { seed } from '../../api/src/seed.js';
import { serve } from '../../api/src/serve.js';
import { createImageWorker } from '../../image-worker/src/image-worker.js';
import { createMaintenanceWorker } from '../../maintenance-worker/src/maintenance-worker.js';
import { createVideoWorker } from '../../video-worker/src/video-worker.js';
import { banner } from './banner.js';

/** The whole gateway in one process: API, workers and maintenance, on whatever the configuration names or lacks. */
export async function startGateway(platform: Platform): Promise<RunningProcess> {
  const { config } = platform;
  platform.metrics.add(...fleetSources(platform.database));
  const api = await createApi(platform);
  const firstKey = await seed(api, platform);
  const providers = openMediaProviders();
  const workers = [createVideoWorker(platform, providers.registry), createImageWorker(platform, providers.registry)];
  const maintenance = createMaintenanceWorker(platform);
  const server = await serve(api, platform);
  for (const worker of workers) worker.start();
  maintenance.start();
  return {
    ready: banner({
      baseUrl: publicBaseUrl(config),
      firstKey,
      newAdminToken: platform.adminToken.shownOnce,
      embedded: platform.embedded,
      dataDirectory: config.server.DATA_DIR,
    }),
    stop: async (graceMs) => {
      // Together, so that a slow client takes none of the time that the workers have for what they began.
      await Promise.all([server.stop(graceMs), maintenance.stop(), ...workers.map((worker) => worker.stop(graceMs))]);
      await providers.close();
    },
  };
}
