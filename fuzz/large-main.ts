// Large bodies on every way they can take: `npm run fuzz:large`, or with parts of the names of some of them.
import 'reflect-metadata';
import { configureLog } from '#platform';
import { startTestServices } from '#testing';
import { sendLargeBodies } from './large-bodies.js';
import { LARGE_CASES } from './large-cases.js';

/** The longest stop of the event loop on a quiet machine, in milliseconds of work. */
const STOP_MS = 50;
const MEMORY_TIMES = 4;

configureLog({ LOG_LEVEL: 'fatal' });
const wanted = process.argv.slice(2);
const names = LARGE_CASES.map(({ name }) => name).filter(
  (name) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
);
const services = await startTestServices();
Object.assign(process.env, services.environment);
try {
  const reports = await sendLargeBodies(names);
  for (const { name, status, busyMs, collectorMs, memoryTimes } of reports) {
    const isWrong = busyMs > STOP_MS || memoryTimes > MEMORY_TIMES || status >= 500 || status === 0;
    if (isWrong) process.exitCode = 1;
    const numbers = `${busyMs.toFixed(0)} ms (${collectorMs.toFixed(0)} of the collector), ${memoryTimes.toFixed(1)} x`;
    console.log(`${isWrong ? '!' : ' '} ${status} ${name}: ${numbers}`);
  }
} finally {
  await services.stop();
}
