import { reservePort } from '#platform';
import { openMediaUpstreams, openTextProviders } from '#providers';
import { onPlatform, runProcess } from '#runtime';
import { readPrices } from '../../api/src/read-prices.js';
import { portOf } from '../../api/src/serve.js';
import { startGateway } from './start-gateway.js';

await runProcess({
  name: 'gateway',
  forPeople: true,
  settings: { text: () => openTextProviders(), media: () => openMediaUpstreams(), prices: readPrices },
  start: async (config, settings) => {
    const reserved = await reservePort(portOf(config));
    return onPlatform(config, (platform) => startGateway(platform, { ...settings, reserved }));
  },
});
