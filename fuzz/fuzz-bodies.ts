import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { SenderOrder, SenderReport } from './body-sender.js';
import { EventLoopStops, type Stop } from './event-loop-stops.js';

/** The results of many bodies. */
export interface FuzzReport extends SenderReport {
  readonly longestStop: Stop;
  /** What was on its way then. */
  readonly stoppedAtSeeds: readonly number[];
  /** Memory of the process before and after, in MiB; garbage collected when Node was started with `--expose-gc`. */
  readonly memoryMiB: { readonly before: number; readonly after: number };
  readonly seconds: number;
}

/** How many bodies are on their way at once. */
const SENDERS = 8;

function memoryMiB(): number {
  globalThis.gc?.();
  return Math.round(process.memoryUsage().rss / 1024 ** 2);
}

/** Sends hostile bodies to a gateway in this process from a thread of their own. */
export async function fuzzBodies(order: SenderOrder): Promise<FuzzReport> {
  const before = memoryMiB();
  const startedAt = performance.now();
  const onTheirWay = new Int32Array(new SharedArrayBuffer(SENDERS * Int32Array.BYTES_PER_ELEMENT));
  const worker = new Worker(new URL('body-sender.ts', import.meta.url), { workerData: { ...order, onTheirWay } });
  let stoppedAtSeeds: readonly number[] = [];
  const stops = new EventLoopStops(() => {
    stoppedAtSeeds = [...onTheirWay];
  });
  try {
    const [report] = (await once(worker, 'message')) as [SenderReport];
    const longestStop = stops.take();
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    return { ...report, longestStop, stoppedAtSeeds, seconds, memoryMiB: { before, after: memoryMiB() } };
  } finally {
    stops.close();
    await worker.terminate();
  }
}
