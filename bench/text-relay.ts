// Text through the gateway, whole and streamed, against a raw pass-through in plain Node, in one run.
import type { ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '#platform';
import { freePort } from '#testing';
import { measure, printTable, startServer, type Contender } from './measure.js';
import { BENCH_KEY, gatewayEnvironment, startBenchServices } from './services.js';
import { writeTextPrices } from './text-prices.js';

const CONNECTIONS = 32;
const STREAM_EVENTS = 500;
const OPEN_STREAMS = 500;
const FIRST_BYTE_SAMPLES = 1_000;
/** Of the vendor whose first byte is timed: one that floods both cores would time the scheduler instead. */
const PACED_EVENTS = { STREAM_EVENTS: '5', EVENT_PAUSE_MS: '2' };

const TYPESCRIPT = ['--import', './scripts/typescript.mjs'];
const HEADERS = { authorization: `Bearer ${BENCH_KEY}`, 'content-type': 'application/json' };

const bodyOf = (model: string, characters: number, stream: boolean): string =>
  JSON.stringify({ model, input: 'word '.repeat(characters / 5), stream, store: false });
/** The caller asks for no usage, which the gateway then takes out of what passes through. */
const chatBodyOf = (model: string, characters: number, stream: boolean): string =>
  JSON.stringify({ model, messages: [{ role: 'user', content: 'word '.repeat(characters / 5) }], stream });

const RESPONSES = '/v1/responses';
const CHAT = '/v1/chat/completions';

const VENDOR = [...TYPESCRIPT, 'bench/text-vendor-server.ts'];
const GATEWAY = ['dist/apps/api/src/main.js'];
const FLOOR = [...TYPESCRIPT, 'bench/pass-through-server.ts'];

interface Server {
  readonly url: string;
  readonly process: ChildProcess;
}

/** Starts a server process on a port of its own. */
async function started(args: readonly string[], environment: Record<string, string>): Promise<Server> {
  const port = await freePort();
  return { url: `http://127.0.0.1:${port}`, process: await startServer(args, port, environment) };
}

/**
 * The vendors, a floor in front of the quick and of the paced one, and two gateways in front of all: one is loaded, the
 * other only holds many streams, so that its peak memory is that of the streams.
 */
async function start(): Promise<
  Record<'floor' | 'pacedFloor' | 'gateway' | 'holder', Server> & { stop: () => Promise<void> }
> {
  const services = await startBenchServices();
  const vendor = await started(VENDOR, { STREAM_EVENTS: String(STREAM_EVENTS) });
  const slow = await started(VENDOR, { STREAM_EVENTS: '20', EVENT_PAUSE_MS: '250' });
  const paced = await started(VENDOR, PACED_EVENTS);
  const file = join(tmpdir(), `bench-upstreams-${process.pid}.yaml`);
  writeFileSync(
    file,
    `upstreams:
  - { id: same, protocol: responses, base_url: "${vendor.url}/v1", models: { vendor-5: vendor-5 } }
  - { id: other, protocol: chat, base_url: "${vendor.url}/v1", models: { vendor-4o-image: m } }
  - { id: slow, protocol: chat, base_url: "${slow.url}/v1", models: { vendor-4-vision: m } }
  - { id: paced, protocol: responses, base_url: "${paced.url}/v1", models: { vendor-2.5-flash: m } }
`,
  );
  const floor = await started(FLOOR, { VENDOR_URL: vendor.url });
  const pacedFloor = await started(FLOOR, { VENDOR_URL: paced.url });
  const models = ['vendor-5', 'vendor-4o-image', 'vendor-4-vision', 'vendor-2.5-flash'];
  const prices = writeTextPrices(join(tmpdir(), `bench-prices-${process.pid}.yaml`), models);
  const environment = { ...gatewayEnvironment(services), UPSTREAMS_FILE: file, PRICES_FILE: prices };
  const gateway = await started(GATEWAY, environment);
  const holder = await started(GATEWAY, environment);
  const database = new Database(services.databaseUrl);
  await database.query({ text: 'update account set unlimited = true' });
  await database.close();
  const servers = [floor, pacedFloor, gateway, holder, vendor, slow, paced];
  return {
    floor,
    pacedFloor,
    gateway,
    holder,
    stop: async () => {
      for (const server of servers) server.process.kill();
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

/** Opens many slow streams at once; returns how many ended. */
async function openStreams(url: string): Promise<number> {
  const body = bodyOf('vendor-4-vision', 100, true);
  const reads = Array.from({ length: OPEN_STREAMS }, () =>
    fetch(`${url}/v1/responses`, { method: 'POST', headers: HEADERS, body }).then((answer) => answer.text()),
  );
  return (await Promise.all(reads)).filter((text) => text.includes('response.completed')).length;
}

const setup = await start();
try {
  const { floor, pacedFloor, gateway, holder } = setup;
  const contender = (name: string, server: Server, body: string, path = RESPONSES): Contender => ({
    name,
    ...server,
    request: { method: 'POST', path, headers: HEADERS, body },
  });
  const contenders = (characters: number, stream: boolean): Contender[] => [
    contender('floor: node:http + undici', floor, bodyOf('vendor-5', characters, stream)),
    contender('gateway, same protocol', gateway, bodyOf('vendor-5', characters, stream)),
    contender('gateway, translated to chat', gateway, bodyOf('vendor-4o-image', characters, stream)),
    contender('floor, chat completions', floor, chatBodyOf('vendor-4o-image', characters, stream), CHAT),
    contender('gateway, chat to chat', gateway, chatBodyOf('vendor-4o-image', characters, stream), CHAT),
    contender('gateway, chat translated', gateway, chatBodyOf('vendor-5', characters, stream), CHAT),
  ];
  const finished = await openStreams(holder.url);
  console.log(
    `\n${finished} of ${OPEN_STREAMS} streams open at once finished; peak memory of the gateway ${peakMegabytes(holder.process).toFixed(0)} MB`,
  );
  printTable('Whole replies, short prompt', await measure(contenders(100, false), CONNECTIONS), CONNECTIONS);
  printTable('Whole replies, 32 KB prompt', await measure(contenders(32_768, false), CONNECTIONS), CONNECTIONS);
  const streamed = await measure(contenders(100, true), CONNECTIONS);
  printTable(`Streams of ${STREAM_EVENTS} events`, streamed, CONNECTIONS);
  console.log('\nServer CPU per 1,000 stream events:');
  for (const { name, cpuMicroseconds } of streamed)
    console.log(`  ${name}: ${((cpuMicroseconds * 1_000) / STREAM_EVENTS / 1_000).toFixed(1)} ms`);
  const body = bodyOf('vendor-2.5-flash', 100, true);
  // Load warms both up alike: the floor in front of this vendor has answered nothing yet.
  await measure([contender('floor', pacedFloor, body), contender('gateway', gateway, body)], CONNECTIONS);
  const floorMs = await firstByteMs(pacedFloor.url, '/v1/responses', body);
  const gatewayMs = await firstByteMs(gateway.url, '/v1/responses', body);
  console.log(
    `\nFirst byte of a stream, an event every ${PACED_EVENTS.EVENT_PAUSE_MS} ms: floor ${floorMs.toFixed(2)} ms, gateway ${gatewayMs.toFixed(2)} ms (median of ${FIRST_BYTE_SAMPLES})`,
  );
} finally {
  await setup.stop();
}
