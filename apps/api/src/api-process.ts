import { keepBalanceUnit, type PricesOfFile, readPricesFile } from '#features';
import {
  apiProcesses,
  ConfigError,
  DatabaseConfig,
  loadConfig,
  type ReservedPort,
  reservePort,
  ServerConfig,
} from '#platform';
import { openMediaUpstreams, openTextUpstreams } from '#providers';
import {
  onPlatform,
  parentProcess,
  type ProcessConfig,
  publicBaseUrl,
  runChildren,
  runProcess,
  SalesConfig,
} from '#runtime';
import { createApi, watchUpstreams } from './create-api.js';
import { applyPrices, seed } from './seed.js';
import { longestStopMs, portOf, serve, textDrainMs } from './serve.js';
import { watchSales } from './watch-sales.js';

/** What the API reads besides the settings of the platform. */
const SETTINGS = { text: () => openTextUpstreams(), media: () => openMediaUpstreams(), prices: readPrices };

type ApiSettings = { readonly [Name in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[Name]> };

/** Serves the API from this process, or from as many children as API_PROCESSES asks for; or as one of those. */
export const runApi = (): Promise<void> =>
  runProcess({
    name: 'api',
    settings: { ...SETTINGS, isAlone },
    start: async (config, settings) => {
      // The port of a child is its parent's.
      const reserved = parentProcess ? undefined : await reservePort(portOf(config));
      if (reserved && !settings.isAlone) return runChildren(config, reserved, longestStopMs(config));
      return startApi(config, settings, reserved);
    },
  });

/** Whether one process serves the API. @throws ConfigError when several should and have no database in common. */
function isAlone(): boolean {
  const { API_PROCESSES } = loadConfig(ServerConfig);
  const isOne = apiProcesses({ API_PROCESSES }) === 1;
  if (isOne || parentProcess || loadConfig(DatabaseConfig).DATABASE_URL) return isOne;
  throw new ConfigError([
    `API_PROCESSES must be 1 in the API without DATABASE_URL, not ${JSON.stringify(API_PROCESSES)}: only the whole gateway runs a database for several processes`,
  ]);
}

function startApi(config: ProcessConfig, { text, media, prices }: ApiSettings, reserved?: ReservedPort) {
  return onPlatform(config, async (platform) => {
    const api = await createApi(platform, text, media);
    await keepBalanceUnit(platform.database, config.server.BALANCE_UNIT);
    await applyPrices(platform, prices, text);
    // Without a chosen key, a fresh production database stays without a key until an admin makes one.
    if (config.server.GATEWAY_API_KEY) await seed(api, platform);
    // From then on it knows its upstreams, without which there is nothing to warn of.
    await api.init();
    await watchSales(api, platform);
    watchUpstreams(api, platform);
    const server = await serve(api, platform, reserved);
    return {
      ready: parentProcess
        ? `API process ${parentProcess.number} serves requests`
        : `API on ${publicBaseUrl(config)} is ready`,
      port: server.port,
      stop: async (graceMs: number) => {
        await server.stop(graceMs, textDrainMs(config));
        await media.close();
      },
    };
  });
}

/**
 * What PRICES_FILE holds; undefined without one.
 *
 * @throws ConfigError with file, line, field and rule for each mistake.
 */
export function readPrices(): PricesOfFile | undefined {
  const { PRICES_FILE: file } = loadConfig(SalesConfig);
  return file === undefined ? undefined : readPricesFile(file);
}
