import type { Worker } from 'node:cluster';
import { type Series, type Readiness, within } from '#platform';

/** What a process can be asked for by its parent or child; what it takes and answers must survive JSON. */
type Calls = { readonly [Name in string]: (...args: never[]) => unknown };

/** What a child does for its parent. */
export type ChildCalls = {
  readonly series: () => Promise<Series[]>;
  readonly readiness: () => Promise<Readiness>;
  /** Begins to stop in good order, and serves on for so many milliseconds before it refuses anything. */
  readonly stop: (noticeMs: number) => void;
};

/** What a parent does for its children. */
export type ParentCalls = {
  /** The child serves requests from now on. */
  readonly ready: () => void;
  /** The child ends; this is what it has counted. */
  readonly leave: (series: Series[]) => void;
  readonly metrics: () => Promise<string>;
  readonly readiness: () => Promise<Readiness>;
  readonly readNote: (name: string) => string | null;
  readonly writeNote: (name: string, note: string, seconds: number) => void;
  readonly removeNote: (name: string) => void;
};

type Message =
  | { readonly call: number; readonly name: string; readonly args: unknown[] }
  | { readonly answerTo: number; readonly value?: unknown; readonly failure?: string };

const isMessage = (message: unknown): message is Message =>
  typeof message === 'object' && message !== null && ('call' in message || 'answerTo' in message);

/** A call is answered within this time, in milliseconds, or has failed. */
const CALL_LIMIT_MS = 5_000;

/** Calls between a process and its parent or child, over the channel that Node keeps between them. */
export class ProcessChannel<Mine extends Calls, Theirs extends Calls> {
  private readonly waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  private calls = 0;
  private heardMs = performance.now();

  constructor(
    private readonly end: Pick<Worker, 'send' | 'on'>,
    private readonly mine: Mine,
  ) {
    end.on('message', (message: unknown) => {
      if (isMessage(message)) this.receive(message);
    });
  }

  /** When something came from the other side for the last time, by `performance.now`. */
  get heardAtMs(): number {
    return this.heardMs;
  }

  /** @throws Error what the other side threw, or that it is gone or did not answer within five seconds. */
  async call<Name extends keyof Theirs & string>(
    name: Name,
    ...args: Parameters<Theirs[Name]>
  ): Promise<Awaited<ReturnType<Theirs[Name]>>> {
    const call = (this.calls += 1);
    const answered = new Promise<unknown>((resolve, reject) => {
      this.waiting.set(call, { resolve, reject });
      this.send({ call, name, args }, reject);
    });
    try {
      return (await within(answered, CALL_LIMIT_MS)) as Awaited<ReturnType<Theirs[Name]>>;
    } finally {
      this.waiting.delete(call);
    }
  }

  private send(message: Message, failed: (error: Error) => void): void {
    try {
      this.end.send(message, (error) => {
        if (error) failed(error);
      });
    } catch (error) {
      failed(error as Error);
    }
  }

  private receive(message: Message): void {
    this.heardMs = performance.now();
    if ('call' in message) return void this.answer(message.call, message.name, message.args);
    const waiting = this.waiting.get(message.answerTo);
    if (message.failure === undefined) waiting?.resolve(message.value);
    else waiting?.reject(new Error(message.failure));
  }

  private async answer(call: number, name: string, args: unknown[]): Promise<void> {
    // Nobody is left to hear an answer that cannot be sent.
    const unheard = (): void => undefined;
    try {
      this.send({ answerTo: call, value: await this.mine[name]?.(...(args as never[])) }, unheard);
    } catch (error) {
      this.send({ answerTo: call, failure: error instanceof Error ? error.message : String(error) }, unheard);
    }
  }
}
