import { setTimeout as sleep } from 'node:timers/promises';
import { POISON } from './vendor/poison.js';
import type { Order } from './vendor/vendor-kinds.js';

/** The key of the account that pays for the chaos run. */
export const CHAOS_KEY = 'sk-chaos-0123456789abcdef';

/** A client gives up after this, in milliseconds; none may have to. */
export const GIVE_UP_MS = 60_000;

const NOTHING: Order = { path: '/v1/images/generations', body: {} };

/** Of the first tasks one in so many is poison, where there is any. */
const POISON_EVERY = 6;

/** What clients do to the gateway. */
export interface LoadPlan {
  readonly apiUrls: readonly string[];
  readonly webhookUrl: string;
  /** What is ordered, in turn. */
  readonly orders: readonly Order[];
  readonly perSecond: number;
  /** So many promises are enough for a while: what waits longer than its deadline proves nothing. */
  readonly most: number;
  /** How many tasks are poison. */
  readonly poison: number;
}

/**
 * Submits tasks, several at a time, to whichever API answers, and remembers those it was promised. Each has a prompt of its
 * own, by which its order is known at any vendor.
 */
export class Load {
  /** Tasks whose submission was answered: none of them may be lost. */
  readonly promised = new Set<string>();
  /** Those of them that end every process that starts them. */
  readonly poisonous = new Set<string>();
  /** Submissions that broke off: such a task may exist or not, but never half. */
  unanswered = 0;
  private running = true;
  private sent = 0;
  private most: number;
  private readonly clients: Promise<void>[];

  constructor(private readonly plan: LoadPlan) {
    this.most = plan.most;
    this.clients = Array.from({ length: 4 }, (_, index) =>
      this.submitAgainAndAgain(index, (4 * 1000) / plan.perSecond),
    );
  }

  /** Lets as many promises more be made, once those before have ended without what they were made for. */
  goOn(): void {
    this.most = this.promised.size + this.plan.most;
  }

  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.clients);
  }

  private async submitAgainAndAgain(client: number, pauseMs: number): Promise<void> {
    for (let turn = client; this.running; turn += 1) {
      const { apiUrls, orders } = this.plan;
      const url = apiUrls[turn % apiUrls.length] ?? '';
      const kind = turn % orders.length;
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
    const { orders, poison, webhookUrl } = this.plan;
    const { path, body: order } = orders[kind] ?? orders[0] ?? NOTHING;
    this.sent += 1;
    const isPoison = this.sent % POISON_EVERY === 0 && this.sent <= poison * POISON_EVERY;
    const prompt = `${isPoison ? POISON : 'chaos'} ${this.sent}`;
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${CHAOS_KEY}` },
      body: JSON.stringify({ ...order, prompt, webhook_url: webhookUrl }),
      signal: AbortSignal.timeout(GIVE_UP_MS),
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
