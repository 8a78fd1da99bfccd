import { setTimeout as sleep } from 'node:timers/promises';
import { POISON } from './poison.js';

/** The key of the account that pays for the chaos run. */
export const CHAOS_KEY = 'sk-chaos-0123456789abcdef';

/** What is ordered, in turn: mostly pictures, as there are more workers for them. */
const ORDERS = [
  { path: '/v1/images/generations', body: { model: 'eta-image-2.0', prompt: 'chaos' } },
  { path: '/v1/images/generations', body: { model: 'eta-image-2.0', prompt: 'chaos' } },
  {
    path: '/v1/videos/generations',
    body: { model: 'beta-2.5-preview', prompt: 'chaos', resolution: '480p', size: '16:9', duration: 5 },
  },
] as const;

/** Of the first tasks one in so many is poison, where there is any. */
const POISON_EVERY = 6;

/** Submits tasks, several at a time, to whichever API answers, and remembers those it was promised. */
export class Load {
  /** Tasks whose submission was answered: none of them may be lost. */
  readonly promised = new Set<string>();
  /** Those of them that end every process that starts them. */
  readonly poisonous = new Set<string>();
  /** Submissions that broke off: such a task may exist or not, but never half. */
  unanswered = 0;
  private running = true;
  private sent = 0;
  private readonly clients: Promise<void>[];

  constructor(
    private readonly apiUrls: readonly string[],
    private readonly webhookUrl: string,
    perSecond: number,
    /** So many promises are enough: what waits longer than its deadline proves nothing. */
    private readonly most: number,
    /** How many tasks are poison. */
    private readonly poison: number,
  ) {
    this.clients = Array.from({ length: 4 }, (_, index) => this.submitAgainAndAgain(index, (4 * 1000) / perSecond));
  }

  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.clients);
  }

  private async submitAgainAndAgain(client: number, pauseMs: number): Promise<void> {
    for (let turn = client; this.running; turn += 1) {
      const url = this.apiUrls[turn % this.apiUrls.length] ?? '';
      const kind = turn % ORDERS.length;
      if (this.promised.size < this.most) await this.submit(url, kind).catch(() => (this.unanswered += 1));
      await sleep(pauseMs * (0.5 + Math.random()));
    }
  }

  /** Orders one thing and answers its task. @throws Error when it was not promised. */
  async submit(url: string, kind = 0): Promise<string> {
    const answer = await this.order(url, kind);
    if (answer.status !== 200) throw new Error(`answered ${answer.status}`);
    const body = (await answer.json()) as { data: { task_id: string }[] };
    return body.data[0]?.task_id ?? '';
  }

  /** Orders one thing, remembers what it was promised, and shows the answer. */
  async order(url: string, kind = 0): Promise<Response> {
    const { path, body: order } = ORDERS[kind] ?? ORDERS[0];
    this.sent += 1;
    const isPoison = this.sent % POISON_EVERY === 0 && this.sent <= this.poison * POISON_EVERY;
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${CHAOS_KEY}` },
      body: JSON.stringify({ ...order, ...(isPoison && { prompt: POISON }), webhook_url: this.webhookUrl }),
      signal: AbortSignal.timeout(20_000),
    });
    if (answer.status !== 200) return answer;
    const body = (await answer.clone().json()) as { data: { task_id: string }[] };
    for (const { task_id: taskId } of body.data) {
      this.promised.add(taskId);
      if (isPoison) this.poisonous.add(taskId);
    }
    return answer;
  }
}
