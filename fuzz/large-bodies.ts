import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { EventLoopStops } from './event-loop-stops.js';
import { startHostileGateway } from './hostile-gateway.js';
import { LARGE_CASES } from './large-cases.js';
import { EMBEDDING_MODEL, MODEL_OVER } from './large-requests.js';
import type { OutsideOrder } from './outside.js';

/** What one large body did. */
export interface LargeReport {
  readonly name: string;
  readonly status: number;
  /** The longest stop of all times it was sent but the first, which loads what is loaded on first use. */
  readonly busyMs: number;
  readonly collectorMs: number;
  /** What the process took beyond its memory of before, in sizes of the body; of a short one in those of 8 MiB. */
  readonly memoryTimes: number;
}

const TIMES = 3;

/** What else a process takes meanwhile would be many times a short body. */
const LEAST_BYTES = 8 * 1024 * 1024;

const upstreams = (baseUrl: string): string => `
upstreams:
${(['responses', 'chat', 'messages', 'gemini'] as const)
  .map(
    (protocol) =>
      `  - { id: ${protocol}, protocol: ${protocol}, base_url: "${baseUrl}", key: sk-vendor, models: { ${MODEL_OVER[protocol]}: vendor-${protocol} }${
        protocol === 'chat' ? `, embedding_models: { ${EMBEDDING_MODEL}: vendor-embedding }` : ''
      } }`,
  )
  .join('\n')}
  - { id: sandbox, protocol: sandbox, models: { ${MODEL_OVER.sandbox}: ${MODEL_OVER.sandbox} } }
`;

const EMBEDDING_PRICE = `
insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
values ('price_e', $1, 'input_token', 1, 1000000, '2026-01-01', 'fuzz')`;

/** Sends each large body several times to a gateway in this process, from a thread of its own. */
export async function sendLargeBodies(names = LARGE_CASES.map(({ name }) => name)): Promise<LargeReport[]> {
  const outside = new Worker(new URL('outside.ts', import.meta.url));
  const [{ vendors }] = (await once(outside, 'message')) as [{ vendors: string }];
  const folder = await mkdtemp(join(tmpdir(), 'large-bodies-'));
  const file = join(folder, 'upstreams.yaml');
  await writeFile(file, upstreams(vendors));
  const { gateway, keys, token } = await startHostileGateway({ UPSTREAMS_FILE: file, TEXT_RETRY_SECONDS: '0' });
  await gateway.database.query({ text: EMBEDDING_PRICE, values: [EMBEDDING_MODEL] });
  const ask = async <Answer>(order: OutsideOrder): Promise<Answer> => {
    outside.postMessage(order);
    const [answer] = (await once(outside, 'message')) as [Answer];
    return answer;
  };
  const reports: LargeReport[] = [];
  try {
    for (const { name, byOperator } of LARGE_CASES.filter((large) => names.includes(large.name))) {
      const to = { to: gateway.baseUrl, authorization: `Bearer ${byOperator ? token : keys[0]}` };
      const { bytes } = await ask<{ bytes: number }>({ make: name, ...to });
      const send = () => ask<{ status: number }>({ send: true, ...to });
      reports.push({ name, ...(await measured(send, bytes)) });
    }
  } finally {
    await gateway.stop();
    await outside.terminate();
    await rm(folder, { recursive: true });
  }
  return reports;
}

async function measured(send: () => Promise<{ status: number }>, bytes: number): Promise<Omit<LargeReport, 'name'>> {
  let { status } = await send();
  let longest = { busyMs: 0, collectorMs: 0 };
  let memoryTimes = 0;
  for (let time = 1; time < TIMES; time += 1) {
    globalThis.gc?.();
    const before = process.memoryUsage.rss();
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss());
    }, 5);
    const stops = new EventLoopStops();
    ({ status } = await send());
    const stop = stops.take();
    stops.close();
    clearInterval(watch);
    if (stop.busyMs > longest.busyMs) longest = stop;
    memoryTimes = Math.max(memoryTimes, (most - before) / Math.max(bytes, LEAST_BYTES));
  }
  return { status, busyMs: longest.busyMs, collectorMs: longest.collectorMs, memoryTimes };
}
