/**
 * Places for tools that run, some for each account, so that one whose servers hang does not hold what others need. A
 * request that finds none waits in line until its signal aborts.
 */
export class ToolShares {
  readonly #most: number;
  readonly #running = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(most: number) {
    this.#most = most;
  }

  /** @throws what `signal` throws when no place came free before. */
  async run<Result>(accountId: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    await this.#take(accountId, signal);
    try {
      return await work();
    } finally {
      this.#free(accountId);
    }
  }

  #take(accountId: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const running = this.#running.get(accountId) ?? 0;
    if (running < this.#most) {
      this.#running.set(accountId, running + 1);
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const line = this.#waiting.get(accountId) ?? [];
      const leave = (): void => {
        line.splice(line.indexOf(enter), 1);
        reject(signal.reason as Error);
      };
      const enter = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      signal.addEventListener('abort', leave, { once: true });
      line.push(enter);
      this.#waiting.set(accountId, line);
    });
  }

  /** The slot goes to the call that has waited longest. */
  #free(accountId: string): void {
    const line = this.#waiting.get(accountId);
    const next = line?.shift();
    if (line?.length === 0) this.#waiting.delete(accountId);
    if (next) return next();
    const running = (this.#running.get(accountId) ?? 1) - 1;
    if (running === 0) this.#running.delete(accountId);
    else this.#running.set(accountId, running);
  }
}
