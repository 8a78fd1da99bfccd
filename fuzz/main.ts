// Hostile bodies in number: `npm run fuzz:bodies`, or `npm run fuzz:bodies -- 100000 7` for so many and another seed.
// Then each route gets its good body with one wrong value, each in turn.
import 'reflect-metadata';
import { configureLog } from '#platform';
import { startTestServices } from '#testing';
import { fuzzBodies } from './fuzz-bodies.js';
import { VendorInProcess } from '../bench/vendor-in-process.js';
import { startHostileGateway } from './hostile-gateway.js';
import { sendOneWrongValue, WRONG_VALUES } from './one-wrong-value.js';
import { readsOf } from './reads.js';

const BODIES = 1_000_000;

/** The longest stop of the event loop on a quiet machine, in milliseconds of work. */
const STOP_MS = 50;

configureLog({ LOG_LEVEL: 'fatal' });
const [count = BODIES, seed = 1] = process.argv.slice(2).map(Number);
const services = await startTestServices();
Object.assign(process.env, services.environment);
// The sandbox draws in threads of its own; where TypeScript runs as it is it has none, and a video blocks the event loop for 100 ms.
const { gateway, keys, people } = await startHostileGateway({}, { vendor: new VendorInProcess(0, () => 0) });
try {
  // What is loaded on first use is not to be counted.
  const order = { baseUrl: gateway.baseUrl, keys, people, reads: readsOf(gateway) };
  await fuzzBodies({ ...order, count: 3_000, seed: 0 });
  const report = await fuzzBodies({ ...order, count, seed });
  console.log(JSON.stringify(report, null, 2));
  const once = await sendOneWrongValue(gateway.baseUrl, { keys: keys.slice(0, 1), people }, WRONG_VALUES);
  console.log('One wrong value in a good body:', JSON.stringify(once, null, 2));
  if (once.wrong.length > 0 || report.wrong.length > 0 || report.longestStop.busyMs > STOP_MS) process.exitCode = 1;
} finally {
  await gateway.stop();
  await services.stop();
}
