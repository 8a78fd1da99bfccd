import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReconciliationService } from '#features';
import { eventually, freePort } from '#testing';
import { FakeTextVendor, type VendorGate } from '../tests/harness/text-vendor/fake-text-vendor.js';
import { STYLES, textRequest } from '../tests/harness/text-vendor/text-requests.js';
import { VENDOR_USAGE } from '../tests/harness/text-vendor/vendor-script.js';
import { Fleet } from './fleet.js';
import { CHAOS_KEY } from './load.js';
import { Services } from './services.js';

/** Two APIs that listen, and the worker that gives back what dead processes held. */
const PLACES = ['api', 'api', 'maintenance-worker'] as const;

/** How many texts are asked for at once; the next when all before are half answered. */
const WAVE = 32;

/** Nothing may be held so long after the end of a process and of all texts, in milliseconds. */
export const FREE_MS = 10_000;

/** A gateway of several processes in front of a vendor of texts. */
export interface TextGround {
  readonly services: Services;
  readonly vendor: FakeTextVendor;
  readonly fleet: Fleet;
  readonly apiUrls: readonly string[];
  close(): Promise<void>;
}

/** How a text ended, as its caller saw it: whole; told in its style that the process ends; refused; or cut without a word. */
type End = 'complete' | 'told' | 'refused' | 'cut';

interface Answer {
  readonly name: string;
  readonly end: End;
  /** Undefined: no byte of an answer came. */
  readonly id: string | undefined;
  /** It was asked of the process that ended. */
  readonly isHit: boolean;
}

interface Charge {
  readonly id: string;
  readonly output: bigint;
  readonly amount: bigint;
}

/** What a run did and found. */
export interface TextVerdict {
  readonly ends: Readonly<Record<End, number>>;
  readonly freeMs: number;
  /** One line for each broken promise. */
  readonly failures: readonly string[];
}

/** Opens it; `close` leaves nothing behind but the log. */
export async function openTexts(logFile: string, program: string): Promise<TextGround> {
  const services = await Services.start('postgres', 'folder');
  const vendor = await FakeTextVendor.start();
  const file = join(services.folder, 'upstreams.json');
  const upstreams = STYLES.map((style) => ({
    id: style,
    protocol: style,
    base_url: vendor.baseUrl,
    key: 'vendor-key',
    models: { [`chaos-${style}`]: 'their-model' },
    timeouts: { idle_seconds: 600 },
  }));
  writeFileSync(file, JSON.stringify({ upstreams }));
  for (const style of STYLES)
    for (const unit of ['input_token', 'output_token'])
      await services.database.query({
        text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
          values ($1, $2, $3, 10, 1, now() - interval '1 day', 'chaos')`,
        values: [`price_${style}_${unit}`, `chaos-${style}`, unit],
      });
  const ports = [await freePort(), await freePort()];
  const environment = {
    ...services.environment(),
    UPSTREAMS_FILE: file,
    KEY_PEPPER: 'a-pepper-for-chaos-only',
    GATEWAY_API_KEY: CHAOS_KEY,
    TEXT_DRAIN_SECONDS: '1',
    MEDIA_FETCH_ALLOW: new URL(vendor.baseUrl).host,
    LOG_LEVEL: 'warn',
  };
  const fleet = new Fleet(
    logFile,
    (role, index) => ({
      role,
      environment: role === 'api' ? { ...environment, PORT: String(ports[index]) } : environment,
      clockSkewMs: 0,
      drill: { crashAt: null },
    }),
    program,
  );
  for (const role of PLACES) fleet.add(role);
  await fleet.ready();
  return {
    services,
    vendor,
    fleet,
    apiUrls: ports.map((port) => `http://127.0.0.1:${port}`),
    close: async () => {
      fleet.stop();
      await vendor.stop();
      await services.stop();
    },
  };
}

/**
 * Ends one API by `signal` while `texts` streams and whole replies in every style are half answered, and checks what is left.
 * Where it is to be free within a time, `freeWithinMs` is that.
 */
export async function endUnderTexts(
  ground: TextGround,
  signal: 'SIGTERM' | 'SIGKILL',
  texts: number,
  freeWithinMs = Number.POSITIVE_INFINITY,
): Promise<TextVerdict> {
  const { vendor, fleet } = ground;
  await fleet.ready();
  const victim = signal === 'SIGTERM' ? 0 : 1;
  let reached = 0;
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  vendor.gate = { at: 'middle', opened, onReached: () => (reached += 1) } satisfies VendorGate;
  const asked: Promise<Answer>[] = [];
  // What comes all at once is refused by processes that have just started.
  while (asked.length < texts) {
    const wave = Math.min(WAVE, texts - asked.length);
    for (let more = 0; more < wave; more += 1) asked.push(ask(ground, asked.length, victim));
    await eventually(() => reached === asked.length, { shows: () => `${reached} of ${texts} run` });
  }
  const ended = performance.now();
  await fleet.end(victim, signal);
  open();
  vendor.gate = undefined;
  const answers = await Promise.all(asked);
  const failures = await untilFree(ground, ended, freeWithinMs);
  const ends = { complete: 0, told: 0, refused: 0, cut: 0 };
  for (const { end } of answers) ends[end] += 1;
  const freeMs = Math.round(performance.now() - ended);
  failures.push(...(await judge(ground, answers, signal)), ...fleet.unclean.splice(0));
  return { ends, freeMs, failures };
}

/** Half of all are asked of each API, half of those stream, in every style. */
async function ask({ apiUrls }: TextGround, number: number, victim: number): Promise<Answer> {
  const api = number % 2;
  const stream = Math.floor(number / 2) % 2 === 0;
  const style = STYLES[Math.floor(number / 4) % STYLES.length] ?? 'chat';
  const { path, headers, body } = textRequest(style, { key: CHAOS_KEY, model: `chaos-${style}`, stream });
  const known = { name: `${style} ${stream ? 'stream' : 'whole'} ${number}`, isHit: api === victim };
  let id: string | undefined;
  try {
    const answer = await fetch((apiUrls[api] ?? '') + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    id = answer.headers.get('x-request-id') ?? undefined;
    const text = await answer.text();
    if (answer.status !== 200) return { ...known, id, end: 'refused' };
    return { ...known, id, end: /"(?:unavailable|overloaded_error|UNAVAILABLE)"/.test(text) ? 'told' : 'complete' };
  } catch {
    return { ...known, id, end: 'cut' };
  }
}

/** Waits until nothing is held; one line when that took too long. */
async function untilFree(
  { services: { database } }: TextGround,
  endedMs: number,
  freeWithinMs: number,
): Promise<string[]> {
  const text = `select (select count(*) from request_hold) + (select count(*) from account where held_micros <> 0)
    + (select count(*) from api_key where held_micros <> 0) as held`;
  await eventually(async () => (await database.query<{ held: bigint }>({ text })).rows[0]?.held === 0n, {
    shows: () => 'money is still held',
  });
  const tookMs = performance.now() - endedMs;
  return tookMs > freeWithinMs ? [`money was held for ${Math.round(tookMs)} ms`] : [];
}

async function judge(
  { services: { database } }: TextGround,
  answers: readonly Answer[],
  signal: 'SIGTERM' | 'SIGKILL',
): Promise<string[]> {
  const { rows } = await database.query<Charge>({
    text: 'select request_id as id, output_tokens as output, amount_micros as amount from usage_record',
  });
  const charges = new Map<string, Charge[]>();
  for (const row of rows) charges.set(row.id, [...(charges.get(row.id) ?? []), row]);
  const failures = answers.flatMap((answer) => {
    const { id, name, end, isHit } = answer;
    const found = id === undefined ? [] : (charges.get(id) ?? []);
    const wrong = wrongCharge(answer, found);
    const isExpected = isHit ? end !== 'complete' && (end === 'cut') === (signal === 'SIGKILL') : end === 'complete';
    return [
      ...(isExpected ? [] : [`${name} is ${end} by ${signal}${isHit ? '' : ' of another process'}`]),
      ...(wrong === undefined ? [] : [`${name}, ${end}, ${wrong}: ${found.map(({ output }) => output).join()}`]),
    ];
  });
  const report = await new ReconciliationService(database).run({ full: true });
  return [...failures, ...(report?.findings ?? []).map((finding) => `reconciliation: ${JSON.stringify(finding)}`)];
}

/** What is wrong with the charges of a text: what was delivered is charged once, and nothing else is. */
function wrongCharge({ end }: Answer, found: readonly Charge[]): string | undefined {
  const paid = found.filter(({ amount }) => amount > 0n);
  if (paid.length > 1) return 'charged more than once';
  if (end === 'complete' && paid[0]?.output !== BigInt(VENDOR_USAGE.output)) return 'not charged as the vendor said';
  if (end === 'told' && paid.length === 0) return 'not charged for what it delivered';
  if (end === 'refused' && paid.length > 0) return 'charged';
  return undefined;
}
