// Text through the gateway, whole and streamed, in its default configuration (log level `info`, responses stored) and with each
// switch by itself, against the leanest relay, in one run. `--short` takes a quarter of the time; names of parts (closed, connections,
// steady, streams) run those alone; `--old=/path/to/built/checkout` puts the gateway of another checkout beside this one.
import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '#platform';
import { freePort, startDurableServices } from '#testing';
import { type Contender, keepToCore, measure, megabytesOf, printTable, startServer } from './measure.js';
import { printSteady, send, steadily } from './open-loop.js';
import { BENCH_KEY, gatewayEnvironment } from './services.js';
import { writeTextPrices } from './text-prices.js';

const CONNECTIONS = 32;
const FURTHER_CONNECTIONS = [1, 16, 64, 256];
const RATES = [200, 1_000];
const STREAM_EVENTS = 500;
const OPEN_STREAMS = 500;
const FIRST_BYTE_SAMPLES = 1_000;
const MEMORY_SECONDS = 60;
/** Of the vendor whose first byte is timed: one that floods both cores would time the scheduler instead. */
const PACED_EVENTS = { STREAM_EVENTS: '5', EVENT_PAUSE_MS: '2' };

const PARTS = ['closed', 'connections', 'steady', 'streams'] as const;
const isShort = process.argv.includes('--short');
const named = PARTS.filter((part) => process.argv.includes(part));
const runs = (part: (typeof PARTS)[number]): boolean => named.length === 0 || named.includes(part);
const other = process.argv.find((argument) => argument.startsWith('--old='))?.slice('--old='.length);
const ROUNDS = isShort ? 6 : 24;
const STEADY_ROUNDS = isShort ? 2 : 8;

/** Servers under test have a core to themselves; vendor, load and databases share the other. */
const core = keepToCore(1) ? 0 : undefined;

const TYPESCRIPT = ['--import', './scripts/typescript.mjs'];
const HEADERS = { authorization: `Bearer ${BENCH_KEY}`, 'content-type': 'application/json' };

const bodyOf = (model: string, characters: number, stream: boolean, store?: false): string =>
  JSON.stringify({ model, input: 'word '.repeat(characters / 5), stream, store });
/** The caller asks for no usage, which the gateway then takes out of what passes through. */
const chatBodyOf = (model: string, characters: number, stream: boolean): string =>
  JSON.stringify({ model, messages: [{ role: 'user', content: 'word '.repeat(characters / 5) }], stream });

const RESPONSES = '/v1/responses';
const CHAT = '/v1/chat/completions';

const VENDOR = [...TYPESCRIPT, 'bench/text-vendor-server.ts'];
const GATEWAY = ['dist/apps/api/src/main.js'];
const LEAN = [...TYPESCRIPT, 'bench/lean-relay-server.ts'];
const PLAIN = [...TYPESCRIPT, 'bench/pass-through-server.ts'];

interface Server {
  readonly url: string;
  readonly process: ChildProcess;
}

const servers: Server[] = [];
/** Also when a start fails. */
process.on('exit', () => servers.forEach((server) => server.process.kill()));

/** Starts a server process on a port of its own. */
async function started(
  args: readonly string[],
  environment: Record<string, string>,
  options: Parameters<typeof startServer>[3] = {},
): Promise<Server> {
  const port = await freePort();
  const server = {
    url: `http://127.0.0.1:${port}`,
    process: await startServer(args, port, environment, options),
  };
  servers.push(server);
  return server;
}

const services = await startDurableServices();
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
const models = ['vendor-5', 'vendor-4o-image', 'vendor-4-vision', 'vendor-2.5-flash'];
const prices = writeTextPrices(join(tmpdir(), `bench-prices-${process.pid}.yaml`), models);
const environment = { ...gatewayEnvironment(services), UPSTREAMS_FILE: file, PRICES_FILE: prices };
const lean = await started(LEAN, { VENDOR_URL: vendor.url }, { core });
const gateway = await started(GATEWAY, environment, { core });
const old = other === undefined ? undefined : await started(GATEWAY, environment, { core, cwd: other });
const database = new Database(services.databaseUrl);
await database.query({ text: 'update account set unlimited = true' });
await database.close();

const contender = (name: string, server: Server, body: string, path = RESPONSES): Contender => ({
  name,
  ...server,
  request: { method: 'POST', path, headers: HEADERS, body },
});

/** Rows of a table: the floor first, then the default configuration, then its switches. */
const contenders = (characters: number, stream: boolean): Contender[] => [
  contender('floor: the leanest relay', lean, bodyOf('vendor-5', characters, stream)),
  contender('gateway: responses, stored', gateway, bodyOf('vendor-5', characters, stream)),
  contender('gateway: responses, `store: false`', gateway, bodyOf('vendor-5', characters, stream, false)),
  contender('gateway: responses translated to chat, stored', gateway, bodyOf('vendor-4o-image', characters, stream)),
  contender('gateway: chat', gateway, chatBodyOf('vendor-4o-image', characters, stream), CHAT),
  contender('gateway: chat translated to responses', gateway, chatBodyOf('vendor-5', characters, stream), CHAT),
  ...(old
    ? [
        contender('OLD: responses, stored', old, bodyOf('vendor-5', characters, stream)),
        contender('OLD: responses, `store: false`', old, bodyOf('vendor-5', characters, stream, false)),
        contender('OLD: responses translated to chat, stored', old, bodyOf('vendor-4o-image', characters, stream)),
        contender('OLD: chat', old, chatBodyOf('vendor-4o-image', characters, stream), CHAT),
      ]
    : []),
];
/** The floor, the default configuration, the same without storing, and those of the other checkout. */
const few = (characters: number, stream: boolean): Contender[] =>
  contenders(characters, stream).filter(({ name }) => /floor|: responses, (?:stored|`store)/.test(name));

try {
  console.log(core === undefined ? 'All processes share all cores.' : 'Servers under test have core 0 to themselves.');
  if (runs('closed')) await closed();
  if (runs('connections'))
    for (const connections of FURTHER_CONNECTIONS)
      printTable('Whole replies', await measure(few(100, false), connections, ROUNDS), connections, ROUNDS);
  if (runs('steady')) await steady();
  if (runs('streams')) await streams();
} finally {
  for (const server of servers) server.process.kill();
  await services.stop();
}

/** Each connection sends its next request when it has the answer to the last. */
async function closed(): Promise<void> {
  const quiet = await started(GATEWAY, { ...environment, LOG_LEVEL: 'error' }, { core });
  const plain = await started(PLAIN, { VENDOR_URL: vendor.url }, { core });
  const all = [
    ...contenders(100, false),
    contender('gateway: responses, stored, `LOG_LEVEL=error`', quiet, bodyOf('vendor-5', 100, false)),
    contender("a relay by undici's `request` and `pipeline`", plain, bodyOf('vendor-5', 100, false)),
  ];
  printTable('Whole replies, short prompt', await measure(all, CONNECTIONS, ROUNDS), CONNECTIONS, ROUNDS);
  const long = await measure(contenders(32_768, false), CONNECTIONS, ROUNDS);
  printTable('Whole replies, 32 KB prompt', long, CONNECTIONS, ROUNDS);
  for (const server of [quiet, plain]) server.process.kill();
}

async function steady(): Promise<void> {
  for (const rate of RATES) printSteady(rate, await steadily(few(100, false), rate, STEADY_ROUNDS));
  const before = megabytesOf(gateway.process, 'VmRSS');
  const seconds = isShort ? MEMORY_SECONDS / 4 : MEMORY_SECONDS;
  await send(contender('gateway', gateway, bodyOf('vendor-5', 100, false)), 200, seconds);
  const after = megabytesOf(gateway.process, 'VmRSS');
  console.log(
    `\nResident memory at 200 requests a second: ${after.toFixed(0)} MB, ${(((after - before) * 60) / seconds).toFixed(1)} MB more a minute`,
  );
}

async function streams(): Promise<void> {
  // Only holds many streams, so that its peak memory is that of the streams.
  const holder = await started(GATEWAY, environment, { core });
  const finished = await openStreams(holder.url);
  const peak = megabytesOf(holder.process, 'VmHWM').toFixed(0);
  console.log(`\n${finished} of ${OPEN_STREAMS} streams open at once finished; peak memory of the gateway ${peak} MB`);
  holder.process.kill();
  const streamed = await measure(contenders(100, true), CONNECTIONS, ROUNDS);
  printTable(`Streams of ${STREAM_EVENTS} events`, streamed, CONNECTIONS, ROUNDS);
  console.log('\nServer CPU per 1,000 stream events:');
  for (const { name, cpuMicroseconds } of streamed)
    console.log(`  ${name}: ${((cpuMicroseconds * 1_000) / STREAM_EVENTS / 1_000).toFixed(1)} ms`);
  const pacedLean = await started(LEAN, { VENDOR_URL: paced.url }, { core });
  const body = bodyOf('vendor-2.5-flash', 100, true);
  // Load warms both up alike: the floor in front of this vendor has answered nothing yet.
  await measure([contender('floor', pacedLean, body), contender('gateway', gateway, body)], CONNECTIONS, ROUNDS);
  const floorMs = await firstByteMs(pacedLean.url, RESPONSES, body);
  const gatewayMs = await firstByteMs(gateway.url, RESPONSES, body);
  console.log(
    `\nFirst byte of a stream, an event every ${PACED_EVENTS.EVENT_PAUSE_MS} ms: floor ${floorMs.toFixed(2)} ms, gateway ${gatewayMs.toFixed(2)} ms (median of ${FIRST_BYTE_SAMPLES})`,
  );
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

/** Opens many slow streams at once; returns how many ended. */
async function openStreams(url: string): Promise<number> {
  const body = bodyOf('vendor-4-vision', 100, true);
  const reads = Array.from({ length: OPEN_STREAMS }, () =>
    fetch(`${url}/v1/responses`, { method: 'POST', headers: HEADERS, body }).then((answer) => answer.text()),
  );
  return (await Promise.all(reads)).filter((text) => text.includes('response.completed')).length;
}
