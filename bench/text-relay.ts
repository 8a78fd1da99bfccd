// Text through the gateway, whole and streamed, against a raw pass-through in plain Node, in one run.
import type { ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '#platform';
import { freePort, measure, printTable, startServer, type Contender } from './measure.js';
import { BENCH_KEY, gatewayEnvironment, startBenchServices } from './services.js';

const CONNECTIONS = 32;
const STREAM_EVENTS = 500;
const OPEN_STREAMS = 500;
const FIRST_BYTE_SAMPLES = 300;

const TYPESCRIPT = ['--import', './scripts/typescript.mjs'];
const HEADERS = { authorization: `Bearer ${BENCH_KEY}`, 'content-type': 'application/json' };

const bodyOf = (model: string, characters: number, stream: boolean): string =>
  JSON.stringify({ model, input: 'word '.repeat(characters / 5), stream, store: false });

async function start(): Promise<{
  floor: ChildProcess;
  gateway: ChildProcess;
  floorUrl: string;
  gatewayUrl: string;
  stop: () => Promise<void>;
}> {
  const services = await startBenchServices();
  const [vendorPort, slowPort, floorPort, gatewayPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const events = { STREAM_EVENTS: String(STREAM_EVENTS) };
  const vendor = await startServer([...TYPESCRIPT, 'bench/text-vendor-server.ts'], vendorPort, events);
  const slow = { STREAM_EVENTS: '20', EVENT_PAUSE_MS: '250' };
  const slowVendor = await startServer([...TYPESCRIPT, 'bench/text-vendor-server.ts'], slowPort, slow);
  const vendorUrl = `http://127.0.0.1:${vendorPort}`;
  const file = join(tmpdir(), `bench-upstreams-${process.pid}.yaml`);
  writeFileSync(
    file,
    `upstreams:
  - { id: same, protocol: responses, base_url: "${vendorUrl}/v1", models: { vendor-5: vendor-5 } }
  - { id: other, protocol: chat, base_url: "${vendorUrl}/v1", models: { vendor-4o-image: m } }
  - { id: slow, protocol: chat, base_url: "http://127.0.0.1:${slowPort}/v1", models: { vendor-4-vision: m } }
`,
  );
  const floor = await startServer([...TYPESCRIPT, 'bench/pass-through-server.ts'], floorPort, {
    VENDOR_URL: vendorUrl,
  });
  const gateway = await startServer(['dist/apps/api/src/main.js'], gatewayPort, {
    ...gatewayEnvironment(services),
    UPSTREAMS_FILE: file,
  });
  const database = new Database(services.databaseUrl);
  await database.query({ text: 'update account set unlimited = true' });
  await database.close();
  return {
    floor,
    gateway,
    floorUrl: `http://127.0.0.1:${floorPort}`,
    gatewayUrl: `http://127.0.0.1:${gatewayPort}`,
    stop: async () => {
      for (const process of [floor, gateway, vendor, slowVendor]) process.kill();
      await services.stop();
    },
  };
}

/** Median time to the first byte of a stream, one request at a time, in milliseconds. */
async function firstByteMs(url: string, path: string, body: string): Promise<number> {
  const times: number[] = [];
  for (let sample = 0; sample < FIRST_BYTE_SAMPLES; sample += 1) {
    const startedAt = performance.now();
    const answer = await fetch(url + path, { method: 'POST', headers: HEADERS, body });
    let first = true;
    for await (const _chunk of answer.body ?? []) {
      if (first) times.push(performance.now() - startedAt);
      first = false;
    }
  }
  return times.sort((one, other) => one - other)[FIRST_BYTE_SAMPLES / 2] ?? Number.NaN;
}

const peakMegabytes = ({ pid }: ChildProcess): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

const setup = await start();
try {
  const { floor, gateway, floorUrl, gatewayUrl } = setup;
  const contenders = (characters: number, stream: boolean): Contender[] => [
    {
      name: 'floor: node:http + undici',
      url: floorUrl,
      process: floor,
      request: {
        method: 'POST',
        path: '/v1/responses',
        headers: HEADERS,
        body: bodyOf('vendor-5', characters, stream),
      },
    },
    {
      name: 'gateway, same protocol',
      url: gatewayUrl,
      process: gateway,
      request: {
        method: 'POST',
        path: '/v1/responses',
        headers: HEADERS,
        body: bodyOf('vendor-5', characters, stream),
      },
    },
    {
      name: 'gateway, translated to chat',
      url: gatewayUrl,
      process: gateway,
      request: {
        method: 'POST',
        path: '/v1/responses',
        headers: HEADERS,
        body: bodyOf('vendor-4o-image', characters, stream),
      },
    },
  ];
  const slow = bodyOf('vendor-4-vision', 100, true);
  const reads = Array.from({ length: OPEN_STREAMS }, () =>
    fetch(`${gatewayUrl}/v1/responses`, { method: 'POST', headers: HEADERS, body: slow }).then((answer) =>
      answer.text(),
    ),
  );
  const finished = (await Promise.all(reads)).filter((text) => text.includes('response.completed')).length;
  console.log(
    `\n${finished} of ${OPEN_STREAMS} streams open at once finished; peak memory of the gateway ${peakMegabytes(gateway).toFixed(0)} MB`,
  );
  printTable('Whole replies, short prompt', await measure(contenders(100, false), CONNECTIONS), CONNECTIONS);
  printTable('Whole replies, 32 KB prompt', await measure(contenders(32_768, false), CONNECTIONS), CONNECTIONS);
  const streamed = await measure(contenders(100, true), CONNECTIONS);
  printTable(`Streams of ${STREAM_EVENTS} events`, streamed, CONNECTIONS);
  console.log('\nServer CPU per 1,000 stream events:');
  for (const { name, cpuMicroseconds } of streamed)
    console.log(`  ${name}: ${((cpuMicroseconds * 1_000) / STREAM_EVENTS / 1_000).toFixed(1)} ms`);
  const body = bodyOf('vendor-5', 100, true);
  const floorMs = await firstByteMs(floorUrl, '/v1/responses', body);
  const gatewayMs = await firstByteMs(gatewayUrl, '/v1/responses', body);
  console.log(
    `\nFirst byte of a stream: floor ${floorMs.toFixed(2)} ms, gateway ${gatewayMs.toFixed(2)} ms (median of ${FIRST_BYTE_SAMPLES})`,
  );
} finally {
  await setup.stop();
}
