import cluster, { type Worker } from 'node:cluster';
import { type EventEmitter, once } from 'node:events';
import { childSettings, logger, NamedError, type Readiness, type Series, within } from '#platform';
import { type ChildCalls, type ParentCalls, ProcessChannel } from './process-channel.js';

const log = logger('process');

/** A child ended before it served requests; its own lines say why. */
export class ChildStartError extends NamedError {
  constructor(number: number) {
    super(`API process ${number} ended before it served requests; what it wrote before says why.`);
  }
}

export class Child {
  readonly startedAtMs = performance.now();
  /** Resolves when it serves requests. @throws ChildStartError when it ends before. */
  readonly serving: Promise<void>;
  /** Resolves when it has ended, with what it ended by: its exit code or a signal. */
  readonly ended: Promise<number | string>;
  private readonly worker: Worker;
  private readonly channel: ProcessChannel<ParentCalls, ChildCalls>;
  private isServing = false;
  private isRetired = false;
  private counted: readonly Series[] = [];

  /**
   * @param calls what it may ask of this process.
   * @param hasSibling whether another child serves the port at that moment.
   */
  constructor(
    readonly number: number,
    port: number,
    calls: Omit<ParentCalls, 'ready' | 'leave'>,
    hasSibling: () => boolean,
  ) {
    this.worker = cluster.fork(childSettings(number, port));
    // What cannot be sent fails where it is sent.
    this.worker.on('error', () => undefined);
    dealAgain(this.worker, hasSibling);
    this.ended = once(this.worker, 'exit').then(([code, signal]: (number | string)[]) => {
      this.isServing = false;
      return signal ?? code ?? 0;
    });
    const up = new AbortController();
    this.channel = new ProcessChannel<ParentCalls, ChildCalls>(this.worker, {
      ...calls,
      ready: () => {
        this.isServing = true;
        up.abort();
      },
      leave: (series) => {
        this.isServing = false;
        this.counted = series;
      },
    });
    this.serving = this.untilServing(up.signal);
    // Whoever starts it waits for this; one that is lost later has nobody who does.
    this.serving.catch(() => undefined);
  }

  private async untilServing(up: AbortSignal): Promise<void> {
    await Promise.race([once(up, 'abort'), this.ended]);
    if (!up.aborted) throw new ChildStartError(this.number);
  }

  /** Whether it is to be asked and counted on: it serves, and was not told to stop. */
  get isInService(): boolean {
    return this.isServing && !this.isRetired;
  }

  /** Whether its end was asked for. */
  get wasRetired(): boolean {
    return this.isRetired;
  }

  /** How long nothing has come from it, in milliseconds. */
  get silentMs(): number {
    return performance.now() - this.channel.heardAtMs;
  }

  /** What it measures; what it did when it was last asked, where it does not say. */
  async series(): Promise<readonly Series[]> {
    if (this.isServing)
      try {
        const series = await this.channel.call('series');
        // It may have left in between, with the last word.
        if (this.isServing) this.counted = series;
      } catch (error) {
        log.warn('process.child_silent', { child: this.number, error });
      }
    return this.counted;
  }

  /** What it had counted when it was last asked, or left. */
  get lastSeries(): readonly Series[] {
    return this.counted;
  }

  /** Null where it does not say. */
  async readiness(): Promise<Readiness | null> {
    return this.isInService ? this.ask() : null;
  }

  /** Asks how it stands; one that is starting answers too, though it has nothing to say. */
  ask(): Promise<Readiness | null> {
    return this.channel.call('readiness').catch(() => null);
  }

  /**
   * Tells it to stop in good order, and ends it when it takes longer than `limitMs`. Resolves when it has ended.
   *
   * @param noticeMs how long it serves on before it refuses anything.
   */
  async retire(limitMs: number, noticeMs = 0): Promise<void> {
    const isUp = this.isServing;
    this.isRetired = true;
    // One that is still starting has nothing to bring to an end.
    if (isUp) this.channel.call('stop', noticeMs).catch(() => this.kill());
    else this.kill();
    try {
      await within(this.ended, limitMs);
    } catch {
      log.error('process.child_killed', { child: this.number, reason: `it did not stop within ${limitMs} ms` });
      this.kill();
      await this.ended;
    }
  }

  /** Ends it at once. */
  kill(): void {
    this.worker.process.kill('SIGKILL');
  }
}

/** What Node's cluster sends with a connection, and what it hears when the child has taken it. */
interface Dealt {
  readonly act?: string;
  readonly seq?: number;
}
interface Taken {
  readonly ack?: number;
}

/**
 * Deals a connection again that a child was given and had not taken when it died; it has read nothing of it then. Node would keep it
 * open in the parent for ever, and its client waiting. It is closed where no other child is there.
 */
function dealAgain({ process }: Worker, hasSibling: () => boolean): void {
  const dealt = new Map<number | undefined, { close(): void }>();
  const send = process.send.bind(process) as (...args: unknown[]) => boolean;
  process.send = (...args: unknown[]): boolean => {
    const [{ act, seq }, connection] = args as [Dealt, { close(): void } | undefined];
    if (act === 'newconn' && connection) dealt.set(seq, connection);
    return send(...args);
  };
  process.on('internalMessage', ({ ack }: Taken) => dealt.delete(ack));
  const deal = (): void => {
    for (const [ack, connection] of dealt)
      // What a child answers whose server is closing.
      if (hasSibling())
        (process as EventEmitter).emit('internalMessage', { cmd: 'NODE_CLUSTER', ack, accepted: false });
      else connection.close();
  };
  // Its last words may still be read in this turn. The end of the channel is not told while a connection waits in it.
  process.once('exit', () => setImmediate(deal));
}
