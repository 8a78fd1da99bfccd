import type { INestApplicationContext } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import {
  createMediaWorker,
  keepBalanceUnit,
  fleetSources,
  MediaUpstreamRegistry,
  ModelsOnSale,
  type PricesOfFile,
  TextUpstreams,
} from '#features';
import { apiProcesses, type ReservedPort } from '#platform';
import type { OpenMediaUpstreams, OpenTextUpstreams } from '#providers';
import {
  type Platform,
  printForPeople,
  publicBaseUrl,
  type RunningProcess,
  startChildren,
  type Worker,
} from '#runtime';
import { createApi, watchUpstreams } from '../../api/src/create-api.js';
import { applyPrices, consoleLink, seed } from '../../api/src/seed.js';
import { longestStopMs, type RunningApi, serve, textDrainMs } from '../../api/src/serve.js';
import { watchSales } from '../../api/src/watch-sales.js';
import { createMaintenanceWorker } from '../../maintenance-worker/src/create-maintenance-worker.js';
import { banner, type BannerFacts, newKeyLine, SANDBOX } from './banner.js';

/** The checked settings, and the port that is reserved before anything is opened. */
export interface GatewaySettings {
  readonly text: OpenTextUpstreams;
  readonly media: OpenMediaUpstreams;
  readonly prices: PricesOfFile | undefined;
  readonly reserved: ReservedPort;
}

/** The whole gateway in one process: API, workers and maintenance, on whatever the configuration names or lacks. */
export async function startGateway(
  platform: Platform,
  { text, media, prices, reserved }: GatewaySettings,
): Promise<RunningProcess> {
  const { config } = platform;
  platform.metrics.add(...fleetSources(platform.database));
  const api = await createApi(platform, text, media);
  await keepBalanceUnit(platform.database, config.server.BALANCE_UNIT);
  await applyPrices(platform, prices, text);
  const firstKey = await seed(api, platform);
  // Shown as soon as it is stored: only its hash is known from now on, whatever becomes of this start.
  if (firstKey.key) printForPeople(config, newKeyLine(firstKey.key));
  // From then on it knows its upstreams, without which there is nothing to warn of.
  await api.init();
  await watchSales(api, platform);
  watchUpstreams(api, platform);
  const registry = new MediaUpstreamRegistry(platform.database, platform.sealer, media);
  await registry.start();
  const workers: readonly Worker[] = [
    await createMediaWorker('video', platform, registry.upstreams),
    await createMediaWorker('image', platform, registry.upstreams),
    await createMaintenanceWorker(platform),
  ];
  const server = await openServer(api, platform, reserved);
  for (const worker of workers) worker.start();
  const baseUrl = publicBaseUrl(config);
  return {
    ready: `API on ${baseUrl} is ready, with workers and maintenance`,
    port: server.port,
    ...server.children,
    banner: banner({
      baseUrl,
      console: platform.embedded ? await consoleLink(api, baseUrl) : `${baseUrl}/console/`,
      firstKey,
      newAdminToken: platform.adminToken.shownOnce,
      embedded: platform.embedded,
      dataDirectory: config.server.DATA_DIR,
      ...upstreamsInService(api, registry),
    }),
    stop: async (graceMs) => {
      // Together, so that a slow client takes none of the time that the workers have for what they began.
      await Promise.all([server.stop(graceMs, textDrainMs(config)), ...workers.map((worker) => worker.stop(graceMs))]);
      await registry.close();
      await media.close();
    },
  };
}

/** The API as it is served, and what can be done with the children that serve it, where some do. */
interface OpenServer extends RunningApi {
  readonly children?: Required<Pick<RunningProcess, 'drain' | 'renew'>>;
}

/** Serves the API from this process, or from as many children as API_PROCESSES asks for. */
async function openServer(
  api: NestExpressApplication,
  platform: Platform,
  reserved: ReservedPort,
): Promise<OpenServer> {
  const { config, health, metrics } = platform;
  if (apiProcesses(config.server) === 1) return serve(api, platform, reserved);
  const children = await startChildren(config, reserved, { stopMs: longestStopMs(config), health, metrics });
  return {
    port: config.server.PORT,
    children: { drain: () => void children.stop(), renew: () => children.renew() },
    stop: async () => {
      await children.stop();
      await api.close();
    },
  };
}

/** The upstreams that make what is sold at this moment; those of the database count like those of the file. */
function upstreamsInService(
  api: INestApplicationContext,
  { upstreams: media }: MediaUpstreamRegistry,
): Pick<BannerFacts, 'textUpstreams' | 'mediaUpstreams'> {
  const text = api.get(TextUpstreams, { strict: false });
  const { sandboxSells } = api.get(ModelsOnSale, { strict: false });
  const sandbox = sandboxSells ? [SANDBOX] : [];
  const takingOrders = media.all.filter(({ isDraining = false, weight }) => !isDraining && weight > 0);
  return {
    textUpstreams: text.isSandbox ? sandbox : text.all.map(({ provider }) => provider.id),
    mediaUpstreams: media.sandbox === 'inactive' ? takingOrders.map(({ upstream }) => upstream.id) : sandbox,
  };
}
