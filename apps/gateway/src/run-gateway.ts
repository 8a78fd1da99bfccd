import { loadConfig, reservePort } from '#platform';
import { openTextProviders, SandboxConfig } from '#providers';
import { onPlatform, runProcess } from '#runtime';
import { readPrices } from '../../api/src/read-prices.js';
import { portOf } from '../../api/src/serve.js';
import { startGateway } from './start-gateway.js';

await runProcess({
  name: 'gateway',
  forPeople: true,
  settings: { text: () => openTextProviders(), sandbox: () => loadConfig(SandboxConfig), prices: readPrices },
  start: async (config, settings) => {
    const reserved = await reservePort(portOf(config));
    return onPlatform(config, (platform) => startGateway(platform, { ...settings, reserved }));
  },
});
