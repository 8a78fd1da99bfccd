// Submissions: the whole path (key, every rule, price, hold, row, ledger, wake-up) against Express + INSERT + BullMQ add.
import { BENCH_BODY, startGatewayPair } from './gateway-pair.js';
import { measure, printTable } from './measure.js';
import { BENCH_KEY } from './services.js';

const JSON_TYPE = { 'content-type': 'application/json' };

const pair = await startGatewayPair();
try {
  const results = await measure([
    {
      name: 'floor: Express + pg INSERT + BullMQ add',
      url: pair.floorUrl,
      process: pair.floor,
      request: { method: 'POST', path: '/tasks', headers: JSON_TYPE, body: BENCH_BODY },
    },
    {
      name: 'gateway, one hot account',
      url: pair.gatewayUrl,
      process: pair.gateway,
      request: {
        method: 'POST',
        path: '/v1/videos/generations',
        headers: { ...JSON_TYPE, authorization: `Bearer ${BENCH_KEY}` },
        body: BENCH_BODY,
      },
    },
  ]);
  printTable('Submission', results);
} finally {
  await pair.stop();
}
