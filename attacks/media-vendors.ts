import type { JsonObject } from '#contracts';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, pngSample } from '#testing';
import type { Attack, Outcome, Scene } from './attack.js';
import { send } from './client.js';
import { tasksEnd } from './floods.js';
import type { MediaReply, MediaRequest } from './hostile-vendor.js';
import { HOSTILE_MODELS, microsOf, PEER_KEY, type Tenant } from './target.js';
import { latenciesOf } from './victim.js';

/** How an order goes at a vendor that does what some do; the word stands in its prompt. */
type Way = 'refused-link' | 'own-link' | 'given-up' | 'cut' | 'forbidden';

const ENDS_WITHIN_MS = 60_000;
const PICTURE: MediaReply = {
  status: 200,
  contentType: 'image/png',
  body: pngSample({ width: 1_024, height: 1_024 }),
};
const json = (status: number, body: JsonObject): MediaReply => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(body),
});

/** The most orders of a series. */
const SERIES = 1_000;

/** Another gateway as a vendor, which gives links that do not work at first, or fails what it took. */
class HostilePeer {
  /** The prompts of the orders that it took. */
  readonly taken: string[] = [];
  private readonly asked = new Map<number, number>();

  /** @param series names its orders apart from those of others: a name that was given before is one that the vendor mixed up. */
  constructor(
    private readonly origin: string,
    private readonly series: number,
  ) {}

  /** Undefined: the connection is cut. */
  answer({ method, path, authorization, body }: MediaRequest): MediaReply | undefined {
    if (method === 'POST') return this.take(JSON.parse(body) as { prompt: string });
    const [, kind, number = '', link = ''] = /^\/v1\/(tasks|links|files)\/(?:task_)?(\d+)(?:\/(\d+))?/.exec(path) ?? [];
    if (kind === 'tasks') return this.view(Number(number));
    if (kind === 'links' && Number(link) > 1) return PICTURE;
    if (kind === 'files' && authorization === `Bearer ${PEER_KEY}`) return PICTURE;
    return json(kind === 'files' ? 401 : 400, { error: { code: 'no', message: 'Not with this link.' } });
  }

  private take({ prompt }: { readonly prompt: string }): MediaReply | undefined {
    const number = this.series * SERIES + this.taken.push(prompt);
    if (prompt.includes('cut')) return undefined;
    if (prompt.includes('forbidden'))
      return json(403, { error: { code: 'forbidden', message: 'This account may not do that.' } });
    return json(200, { code: 200, data: [{ status: 'submitted', task_id: `task_${number}` }] });
  }

  private view(number: number): MediaReply {
    const prompt = this.taken[(number % SERIES) - 1] ?? '';
    if (prompt.includes('given-up')) return json(200, { code: 200, data: { status: 'failed', error: null } });
    const times = (this.asked.get(number) ?? 0) + 1;
    this.asked.set(number, times);
    const link = prompt.includes('own-link') ? `/v1/files/${number}` : `/v1/links/${number}/${times}`;
    const images = [{ url: this.origin + link, content_type: 'image/png', expires_at: 2_000_000_000 }];
    return json(200, { code: 200, data: { status: 'completed', result: { images }, error: null } });
  }
}

interface Ended {
  readonly status: string;
  readonly error: string | undefined;
}

/** Orders; answers the id of the task. */
async function order({ target }: Scene, { key }: Tenant, model: string, way: Way): Promise<string> {
  const path = model.startsWith('zeta') ? '/v1/videos/generations' : '/v1/images/generations';
  const body = { model, prompt: `a lighthouse, ${way}` };
  const { status, text } = await send(target.url, key, { method: 'POST', path, body });
  const id = /"task_id":"([^"]+)"/.exec(text)?.[1];
  if (id === undefined) throw new Error(`${path} was answered with ${status}: ${text}`);
  return id;
}

/** Orders, and waits for the end. */
async function ordered(scene: Scene, tenant: Tenant, model: string, way: Way): Promise<Ended> {
  const { target } = scene;
  const { key } = tenant;
  const id = await order(scene, tenant, model, way);
  return eventually(
    async () => {
      const answer = await send(target.url, key, { method: 'GET', path: `/v1/tasks/${id}?wait=5` });
      const { data } = JSON.parse(answer.text) as { data: { status: string; error: { code: string } | null } };
      const isOver = ['completed', 'failed', 'cancelled'].includes(data.status);
      return isOver ? { status: data.status, error: data.error?.code } : undefined;
    },
    { limitMs: ENDS_WITHIN_MS, pauseMs: 200 },
  );
}

/** How one order ends, and what is charged for it: the price of one that is completed. */
interface Strangeness {
  readonly name: string;
  readonly model: string;
  readonly way: Way;
  readonly end: Ended['status'];
  readonly error?: string;
  /** So many orders may fail before it, which another vendor makes. */
  readonly failures?: number;
}

const STRANGENESSES: readonly Strangeness[] = [
  { name: 'a link that is refused at first', model: HOSTILE_MODELS.peer, way: 'refused-link', end: 'completed' },
  { name: 'a link of its own that wants its key', model: HOSTILE_MODELS.peer, way: 'own-link', end: 'completed' },
  {
    name: 'failures of what it took, beside another that works',
    model: HOSTILE_MODELS.shared,
    way: 'given-up',
    end: 'completed',
    // Three in a row close it, and each of two workers counts those that it asked about.
    failures: 5,
  },
  {
    name: 'a cut start, and cannot be asked',
    model: HOSTILE_MODELS.forgetful,
    way: 'cut',
    end: 'failed',
    error: 'upstream_unknown',
  },
];

const strange = ({ name, model, way, end, error, failures = 0 }: Strangeness, series: number): Attack => ({
  name: `media vendor answers with ${name}`,
  run: async (scene): Promise<Outcome> => {
    const { target, vendor, tenant } = scene;
    const peer = new HostilePeer(vendor.url, series);
    vendor.media = (request) => peer.answer(request);
    const served = await tenant('50');
    let last = await ordered(scene, served, model, way);
    let failed = 0;
    for (; last.status !== end && failed < failures; failed += 1) last = await ordered(scene, served, model, way);
    const breaches: string[] = [];
    if (last.status !== end || last.error !== error) breaches.push(`it ended as ${last.status} ${last.error ?? ''}`);
    const asked = failures > 0 ? failed : 1;
    if (peer.taken.length !== asked) breaches.push(`the vendor was asked ${peer.taken.length} times, not ${asked}`);
    const chargedMicros = await target.chargedMicros(served);
    const dueMicros = end === 'completed' ? await priceOf(scene, served, model) : 0n;
    if (chargedMicros !== dueMicros) breaches.push(`charged ${chargedMicros} of ${dueMicros} micros`);
    return { breaches, bill: { chargedMicros, dueMicros } };
  },
});

/** What one order of the model costs. */
async function priceOf({ target }: Scene, { key }: Tenant, model: string): Promise<bigint> {
  const body = { model, prompt: 'a lighthouse' };
  const { status, text } = await send(target.url, key, { method: 'POST', path: '/v1/quote', body });
  const amount = /"amount":\s*"([\d.]+)"/.exec(text)?.[1];
  if (amount === undefined) throw new Error(`/v1/quote was answered with ${status}: ${text}`);
  return microsOf(amount);
}

/** How long two accounts go on with orders that fail, and how much longer than that an order of another may take; in milliseconds. */
const CLOSING_MS = 30_000;
const SERVED_WITHIN_MS = 20_000;
const PAUSE_MS = 300;

/** Two accounts of one person order what their vendor refuses or fails, over and over: it must stay open to all others. */
const closing = (way: Way, series: number): Attack => ({
  name: `two accounts close a media vendor to all by orders that are ${way}`,
  run: async (scene): Promise<Outcome> => {
    const { target, vendor, tenant, victim } = scene;
    const model = HOSTILE_MODELS.peer;
    const peer = new HostilePeer(vendor.url, series);
    vendor.media = (request) => peer.answer(request);
    const attackers = [await tenant('50'), await tenant('50')];
    const end = Date.now() + CLOSING_MS * scene.intensity.scale;
    const attacks = attackers.map(async (attacker) => {
      while (Date.now() < end) {
        await order(scene, attacker, model, way).catch(() => undefined);
        await sleep(PAUSE_MS);
      }
    });
    const times: number[] = [];
    const breaches: string[] = [];
    while (Date.now() < end) {
      const began = performance.now();
      const { status, error } = await ordered(scene, victim.tenant, model, 'own-link');
      times.push(performance.now() - began);
      if (status !== 'completed') breaches.push(`an order of another account ended as ${status} ${error ?? ''}`);
      await sleep(PAUSE_MS);
    }
    await Promise.all(attacks);
    const longestMs = Math.max(...times);
    if (longestMs > SERVED_WITHIN_MS) breaches.push(`an order of another account took ${longestMs.toFixed(0)} ms`);
    const failed = peer.taken.filter((prompt) => prompt.includes(way)).length;
    if (failed < attackers.length)
      breaches.push(`the vendor met ${failed} of the attackers' orders, so that this proves nothing`);
    for (const attacker of attackers) breaches.push(...(await tasksEnd(scene, attacker)));
    const charges = await Promise.all(attackers.map((attacker) => target.chargedMicros(attacker)));
    const chargedMicros = charges.reduce((sum, charge) => sum + charge, 0n);
    return { breaches, bill: { chargedMicros, dueMicros: 0n }, during: latenciesOf(times) };
  },
});

const CLOSING_WAYS = ['forbidden', 'given-up'] as const;

/**
 * Orders at media vendors that answer as some do: what is delivered is charged once, everything else is free, and nobody closes a vendor
 * to others.
 */
export const MEDIA_VENDORS: readonly Attack[] = [
  ...STRANGENESSES.map((each, series) => strange(each, series)),
  ...CLOSING_WAYS.map((way, nth) => closing(way, STRANGENESSES.length + nth)),
];
