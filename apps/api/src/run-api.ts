import { reservePort } from '#platform';
import { openMediaUpstreams, openTextProviders } from '#providers';
import { onPlatform, publicBaseUrl, runProcess } from '#runtime';
import { createApi } from './create-api.js';
import { readPrices } from './read-prices.js';
import { applyPrices, seed } from './seed.js';
import { portOf, serve, textDrainMs } from './serve.js';
import { watchSales } from './watch-sales.js';
import { watchUpstreams } from './watch-upstreams.js';

await runProcess({
  name: 'api',
  settings: { text: () => openTextProviders(), media: () => openMediaUpstreams(), prices: readPrices },
  start: async (config, { text, media, prices }) => {
    const reserved = await reservePort(portOf(config));
    return onPlatform(config, async (platform) => {
      const api = await createApi(platform, text, media);
      await applyPrices(platform, prices, text);
      // Without a chosen key, a fresh production database stays without a key until an admin makes one.
      if (config.server.GATEWAY_API_KEY) await seed(api, platform);
      await watchSales(api, platform);
      watchUpstreams(api, platform);
      const server = await serve(api, platform, reserved);
      return {
        ready: `API on ${publicBaseUrl(config)} is ready`,
        port: server.port,
        stop: async (graceMs) => {
          await server.stop(graceMs, textDrainMs(platform));
          await media.close();
        },
      };
    });
  },
});
