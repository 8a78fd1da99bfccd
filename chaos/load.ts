import { setTimeout as sleep } from 'node:timers/promises';

/** The key of the account that pays for the chaos run. */
export const CHAOS_KEY = 'sk-chaos-0123456789abcdef';

/** Submits pictures, several at a time, to whichever API answers, and remembers those it was promised. */
export class Load {
  /** Tasks whose submission was answered: none of them may be lost. */
  readonly promised = new Set<string>();
  /** Submissions that broke off: such a task may exist or not, but never half. */
  unanswered = 0;
  private running = true;
  private readonly clients: Promise<void>[];

  constructor(
    private readonly apiUrls: readonly string[],
    private readonly webhookUrl: string,
    perSecond: number,
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
      await this.submit(url).catch(() => (this.unanswered += 1));
      await sleep(pauseMs * (0.5 + Math.random()));
    }
  }

  private async submit(url: string): Promise<void> {
    const answer = await fetch(`${url}/v1/images/generations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${CHAOS_KEY}` },
      body: JSON.stringify({ model: 'eta-image-2.0', prompt: 'chaos', webhook_url: this.webhookUrl }),
      signal: AbortSignal.timeout(20_000),
    });
    if (answer.status !== 200) throw new Error(`answered ${answer.status}`);
    const body = (await answer.json()) as { data: { task_id: string }[] };
    for (const { task_id: taskId } of body.data) this.promised.add(taskId);
  }
}
