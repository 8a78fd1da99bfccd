import { type FilePrice, fleetSources } from '#features';
import { type ReservedPort } from '#platform';
import { openMediaProviders, type OpenTextProviders, type SandboxConfig } from '#providers';
import { type Platform, publicBaseUrl, type RunningProcess, tellPeople } from '#runtime';
import { createApi } from '../../api/src/create-api.js';
import { applyPrices, seed } from '../../api/src/seed.js';
import { serve } from '../../api/src/serve.js';
import { watchSales } from '../../api/src/watch-sales.js';
import { createImageWorker } from '../../image-worker/src/image-worker.js';
import { createMaintenanceWorker } from '../../maintenance-worker/src/maintenance-worker.js';
import { createVideoWorker } from '../../video-worker/src/video-worker.js';
import { banner, newKeyLine } from './banner.js';

/** What was read and had before anything was opened. */
export interface GatewaySettings {
  readonly text: OpenTextProviders;
  readonly sandbox: SandboxConfig;
  readonly prices: readonly FilePrice[];
  readonly reserved: ReservedPort;
}

/** The whole gateway in one process: API, workers and maintenance, on whatever the configuration names or lacks. */
export async function startGateway(
  platform: Platform,
  { text, sandbox, prices, reserved }: GatewaySettings,
): Promise<RunningProcess> {
  const { config } = platform;
  platform.metrics.add(...fleetSources(platform.database));
  const api = await createApi(platform, text);
  await applyPrices(platform, prices, text);
  const firstKey = await seed(api, platform);
  // Shown as soon as it is stored: only its hash is known from now on, whatever becomes of this start.
  if (firstKey.key) tellPeople(config, newKeyLine(firstKey.key));
  await watchSales(api, platform);
  const providers = openMediaProviders(sandbox);
  const workers = [createVideoWorker(platform, providers.registry), createImageWorker(platform, providers.registry)];
  const maintenance = createMaintenanceWorker(platform);
  const server = await serve(api, platform, reserved);
  for (const worker of workers) worker.start();
  maintenance.start();
  const baseUrl = publicBaseUrl(config);
  return {
    ready: `API on ${baseUrl} is ready, with workers and maintenance`,
    port: server.port,
    banner: banner({
      baseUrl,
      firstKey,
      newAdminToken: platform.adminToken.shownOnce,
      embedded: platform.embedded,
      dataDirectory: config.server.DATA_DIR,
      textUpstreams: text.fromFile?.map(({ id }) => id) ?? [],
    }),
    stop: async (graceMs) => {
      // Together, so that a slow client takes none of the time that the workers have for what they began.
      await Promise.all([server.stop(graceMs), maintenance.stop(), ...workers.map((worker) => worker.stop(graceMs))]);
      await providers.close();
    },
  };
}
