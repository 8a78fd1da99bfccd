import { eventually } from '#testing';
import type { Attack, Outcome, Scene } from './attack.js';
import { headersFor, type Request, send, type Style, STYLE_NAMES, textRequest } from './client.js';
import { PLAIN, type Plan } from './hostile-vendor.js';
import type { Tenant } from './target.js';
import { type Protocol, PROTOCOLS } from './wire-formats.js';

/** Words come at once and their count never, so that every reply is under way when the process ends. */
const HALF_WAY: Plan = { ...PLAIN, countAfterMs: 60_000 };
const LAST_WORDS = 'forty two';

/** Nothing may be held so long after the end of the process, in milliseconds. */
const FREE_WITHIN_MS = 10_000;
/** So long it is waited for where times are not judged. */
const FREE_AT_LAST_MS = 200_000;
/** Requests of a key that is as busy as that draw on money that its process reserved. */
const BUSY = 40;

/** How an answer to a running request ended. */
interface End {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | null;
  /** The connection broke. */
  readonly isCut: boolean;
}

/** A request that is under way, of an account of its own. */
interface Running {
  readonly name: string;
  readonly payer: Tenant;
  readonly stream: boolean;
  /** What has come of its answer. */
  read: string;
  readonly end: Promise<End>;
}

const QUESTION = 'What is six times seven';

async function begin({ target, tenant }: Scene, style: Style, protocol: Protocol, stream: boolean): Promise<Running> {
  const payer = await tenant('10');
  const request = textRequest(style, protocol, stream, {}, `${QUESTION}, asked by ${payer.accountId}?`);
  const running: Running = {
    name: `${style} over ${protocol}, ${stream ? 'streamed' : 'whole'}`,
    payer,
    stream,
    read: '',
    end: read(target.url, payer, request, (text) => (running.read += text)),
  };
  return running;
}

async function read(
  url: string,
  { key }: Tenant,
  { path, body }: Request,
  onText: (text: string) => void,
): Promise<End> {
  let [status, text, retryAfter] = [0, '', null as string | null];
  try {
    const answer = await fetch(url + path, { method: 'POST', headers: headersFor(key), body: JSON.stringify(body) });
    status = answer.status;
    retryAfter = answer.headers.get('retry-after');
    for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      onText(piece);
    }
    return { status, text, retryAfter, isCut: false };
  } catch {
    return { status, text, retryAfter, isCut: true };
  }
}

/** In every style over every protocol, streamed and whole: resolves when each has come as far as it can. */
async function beginAll(scene: Scene): Promise<readonly Running[]> {
  const { vendor } = scene;
  vendor.plan = HALF_WAY;
  const ways = STYLE_NAMES.flatMap((style) =>
    (Object.keys(PROTOCOLS) as Protocol[]).flatMap((protocol) =>
      [true, false].map((stream) => ({ style, protocol, stream })),
    ),
  );
  const running: Running[] = [];
  for (const { style, protocol, stream } of ways) running.push(await begin(scene, style, protocol, stream));
  const isHalfWay = ({ payer, stream, read: came }: Running): boolean =>
    stream ? came.includes(LAST_WORDS) : vendor.received.some((body) => body.includes(payer.accountId));
  await eventually(() => running.every(isHalfWay), {
    shows: () =>
      running
        .filter((each) => !isHalfWay(each))
        .map(({ name }) => name)
        .join('; '),
  });
  return running;
}

/** What is held for anybody. */
const HELD = `select coalesce(sum(held_micros), 0)::text as held, (select count(*) from request_hold)::integer as holds from account`;

/** A breach when money is still held after the time that a process may take to die. */
async function heldTooLong({ target, intensity }: Scene): Promise<string[]> {
  const held = async () => (await target.rows<{ held: string; holds: number }>(HELD))[0];
  const isFree = async (): Promise<boolean> => {
    const now = await held();
    return now?.held === '0' && now.holds === 0;
  };
  const limitMs = intensity.judgesTimes ? FREE_WITHIN_MS : FREE_AT_LAST_MS;
  return eventually(isFree, { limitMs, pauseMs: 100 }).then(
    () => [],
    async () => {
      const left = await held();
      return [`${left?.holds} holds of ${left?.held} micros stand ${limitMs / 1000} s after the process ended`];
    },
  );
}

/** Ends the process that serves requests, starts it again, and answers what was still held. What holds it lives beside it, or ends with it. */
async function restarted(scene: Scene, signal: 'SIGTERM' | 'SIGKILL'): Promise<string[]> {
  const { target } = scene;
  await target.endApi(signal);
  if (target.backend === 'embedded') await target.startApi();
  const breaches = await heldTooLong(scene);
  if (target.backend !== 'embedded') await target.startApi();
  return breaches;
}

/** How the process that ends tells it inside a stream, in one style or another. */
const TOLD = /"(?:unavailable|overloaded_error|UNAVAILABLE)"/;

/** A stop while replies are half way: streams are told and pay for what came, whole replies are refused and free. */
export const RESTART: Attack = {
  name: 'a restart during whole replies and streams',
  run: async (scene): Promise<Outcome> => {
    const { target } = scene;
    const running = await beginAll(scene);
    const breaches = await restarted(scene, 'SIGTERM');
    scene.vendor.plan = PLAIN;
    let chargedMicros = 0n;
    for (const { name, payer, stream, end } of running) {
      const { status, text, retryAfter, isCut } = await end;
      const isRight = stream
        ? status === 200 && TOLD.test(text)
        : (status === 503 || status === 529) && Number(retryAfter) > 0;
      if (isCut || !isRight) breaches.push(`${name}: ${isCut ? 'cut' : status} ${text.slice(-200)}`);
      const charged = await target.chargedMicros(payer);
      if (stream ? charged === 0n : charged > 0n) breaches.push(`${name}: charged ${charged} micros`);
      if (!stream) chargedMicros += charged;
    }
    return { breaches, bill: { chargedMicros, dueMicros: 0n } };
  },
};

/** A death while replies are half way, of keys that hold for each request and of one that draws on a reservation. */
export const KILL: Attack = {
  name: 'a kill of the process that serves during replies',
  run: async (scene): Promise<Outcome> => {
    const { target, vendor, tenant } = scene;
    vendor.plan = PLAIN;
    const busy = await tenant('10');
    const quick = textRequest('messages', 'messages', false, { max_tokens: 60 });
    const served = await Promise.all(Array.from({ length: BUSY }, () => send(target.url, busy.key, quick)));
    const before = BigInt(served.filter(({ status }) => status === 200).length);
    const each = (await target.chargedMicros(await oneServed(scene, quick))) * before;
    const running = await beginAll(scene);
    const breaches = await restarted(scene, 'SIGKILL');
    vendor.plan = PLAIN;
    let [chargedMicros, dueMicros] = [await target.chargedMicros(busy), each];
    if (chargedMicros > each) breaches.push(`the busy key was charged ${chargedMicros} of ${each} micros`);
    for (const { name, payer, end } of running) {
      await end;
      const charged = await target.chargedMicros(payer);
      if (charged > 0n) breaches.push(`${name}: charged ${charged} micros by a process that is dead`);
      chargedMicros += charged;
    }
    const again = await send(target.url, busy.key, quick);
    if (again.status !== 200) breaches.push(`the busy key was answered with ${again.status} after it: ${again.text}`);
    return { breaches, bill: { chargedMicros, dueMicros } };
  },
};

/** An account that was served once. */
async function oneServed({ target, tenant }: Scene, request: Request): Promise<Tenant> {
  const honest = await tenant('10');
  await send(target.url, honest.key, request);
  return honest;
}
