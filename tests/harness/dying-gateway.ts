// A whole gateway as an operator starts it, but that it kills itself where DIE_AT names a place in the path of a file.
import 'reflect-metadata';
import { openMediaUpstreams, openTextUpstreams } from '#providers';
import { type Failpoints, onPlatform, runProcess } from '#runtime';
import { reservePort } from '#platform';
import { portOf } from '../../apps/api/src/serve.js';
import { startGateway } from '../../apps/gateway/src/start-gateway.js';

const failpoints: Failpoints = {
  reach(point) {
    // No JavaScript runs behind this line: the signal ends the process before it returns.
    if (point === process.env['DIE_AT']) process.kill(process.pid, 'SIGKILL');
  },
};

await runProcess({
  name: 'gateway',
  settings: { text: () => openTextUpstreams(), media: () => openMediaUpstreams() },
  start: async (config, settings) => {
    const reserved = await reservePort(portOf(config));
    return onPlatform(config, (platform) =>
      startGateway({ ...platform, failpoints }, { ...settings, prices: undefined, reserved }),
    );
  },
});
