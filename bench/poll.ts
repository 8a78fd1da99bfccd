// Polls of one task: key, ownership, view with links and money, against Express + SELECT by key through pg.
import { startGatewayPair } from './gateway-pair.js';
import { measure, printTable } from './measure.js';
import { BENCH_KEY } from './services.js';

const pair = await startGatewayPair();
try {
  const { floorTaskId, taskId } = await pair.submitOne();
  const results = await measure([
    {
      name: 'floor: Express + named SELECT by key',
      url: pair.floorUrl,
      process: pair.floor,
      request: { method: 'GET', path: `/tasks/${floorTaskId}` },
    },
    {
      name: 'gateway',
      url: pair.gatewayUrl,
      process: pair.gateway,
      request: { method: 'GET', path: `/v1/tasks/${taskId}`, headers: { authorization: `Bearer ${BENCH_KEY}` } },
    },
  ]);
  printTable('Poll of a task', results);
} finally {
  await pair.stop();
}
