import { reservePort } from '#platform';
import { openMediaUpstreams, openTextUpstreams } from '#providers';
import { onPlatform, parentProcess, runProcess } from '#runtime';
import { readPrices, runApi } from '../../api/src/api-process.js';
import { portOf } from '../../api/src/serve.js';
import { startGateway } from './start-gateway.js';

/** API, workers and maintenance; with API_PROCESSES above 1, the API in children of this process. */
const runGateway = (): Promise<void> =>
  runProcess({
    name: 'gateway',
    forPeople: true,
    settings: { text: () => openTextUpstreams(), media: () => openMediaUpstreams(), prices: readPrices },
    start: async (config, settings) => {
      const reserved = await reservePort(portOf(config));
      return onPlatform(config, (platform) => startGateway(platform, { ...settings, reserved }));
    },
  });

await (parentProcess ? runApi() : runGateway());
