import type { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';
import { ServerSocket } from '../dns/server-names.js';
import { type SendingConnection, sendInPieces } from './paced-sends.js';
import { NamedError } from '../named-error.js';

/** What a bounded connection needs besides the settings of the driver. */
export interface BoundedClientConfig extends ClientConfig {
  /** The longest wait for the answer to one statement that sets no limit of its own, in milliseconds. */
  readonly statementLimitMs?: number;
  /** An idle connection asks so often whether the server is still there, in milliseconds; for those that only listen. */
  readonly heartbeatMs?: number;
  /** Called when the connection was discarded because an answer did not come; `startedMs` as of `performance.now`. */
  readonly onSilence?: (startedMs: number) => void;
  /** Called whenever the server has answered a statement. */
  readonly onAnswer?: () => void;
}

/** A statement that may take another time than the others of its connection. */
export interface LimitedStatement {
  /** Milliseconds. */
  readonly limitMs?: number;
}

/** No answer came in time. Whether the statement took effect is unknown, as after a lost connection. */
export class AnswerTimeoutError extends NamedError {
  readonly code = 'ETIMEDOUT';

  constructor(limitMs: number) {
    super(`Postgres did not answer within ${limitMs} ms`);
  }
}

/** What the driver keeps to itself: there is no other way to end a connection to a silent server. */
interface DriverConnection extends SendingConnection {
  readonly stream: Socket;
  on(event: 'readyForQuery' | 'end', listener: () => void): void;
  on(event: 'errorMessage', listener: (message: { readonly code?: string }) => void): void;
}

/** A write was sent to a server that only reads. */
const READ_ONLY = '25006';
/** A connection to such a server is discarded when it is so old, in milliseconds: the name may lead elsewhere by now. */
const READ_ONLY_KEPT_MS = 1_000;

/** How long a server may take to answer a goodbye, in milliseconds. */
const GOODBYE_MS = 1_000;

const INTRODUCTION = `select pg_backend_pid() as pid, set_config('client_connection_check_interval', '2000', false)`;

const NEVER = Number.POSITIVE_INFINITY;

/**
 * A connection whose every wait has an end on our side. A statement that is not answered in time fails, and the
 * connection goes with it: the driver's own `query_timeout` only turns its back on the statement, so that the next
 * one waits behind it.
 */
export class BoundedClient extends Client {
  readonly #connection: DriverConnection;
  readonly #config: BoundedClientConfig;
  #timer: NodeJS.Timeout | undefined;
  #timerMs = 0;
  #heartbeat: NodeJS.Timeout | undefined;
  /** When the statement under way began; `NEVER` when there is none. */
  #startedMs = NEVER;
  #processId: number | undefined;
  #answeredMs = performance.now();
  readonly #madeMs = performance.now();
  #onlyReads = false;

  constructor(config: BoundedClientConfig = {}) {
    super({ stream: () => new ServerSocket(), ...config });
    this.#config = config;
    this.#connection = (this as unknown as { connection: DriverConnection }).connection;
    sendInPieces(this.#connection);
    this.#connection.on('readyForQuery', () => this.#answered());
    this.#connection.on('errorMessage', ({ code }) => (this.#onlyReads ||= code === READ_ONLY));
    this.#connection.on('end', () => this.#stopTimers());
    const query = this.query.bind(this) as (...given: unknown[]) => unknown;
    // The driver's method has a dozen forms, which only it should know.
    Object.defineProperty(this, 'query', {
      value: (...given: unknown[]) => {
        this.#arm((given[0] as LimitedStatement | undefined)?.limitMs);
        return query(...given);
      },
    });
    if (config.heartbeatMs !== undefined) this.#heartbeat = setInterval(() => this.#beat(), config.heartbeatMs).unref();
  }

  /** When the statement under way began, as of `performance.now`; undefined when there is none. */
  get startedMs(): number | undefined {
    return this.#startedMs === NEVER ? undefined : this.#startedMs;
  }

  /** When the server last answered here, or the connection was made. */
  get answeredMs(): number {
    return this.#answeredMs;
  }

  override end(): Promise<void>;
  override end(ended: (error?: Error) => void): void;
  override end(ended?: (error?: Error) => void): Promise<void> | void {
    // A goodbye that the server does not answer would leave the socket open, and its closing unresolved.
    const timer = setTimeout(() => this.#connection.stream.destroy(), GOODBYE_MS).unref();
    this.#connection.on('end', () => clearTimeout(timer));
    return ended === undefined ? super.end() : super.end(ended);
  }

  /** The server's process behind this connection; undefined when something in between hides it. */
  get processId(): number | undefined {
    return this.#processId;
  }

  /**
   * Asks the server which process works for us, and to end an abandoned statement, so that it does not hold its locks
   * unseen. Not every server can do the latter, which is why this may do nothing.
   */
  async introduce(): Promise<void> {
    const { processID } = this as unknown as { processID: number };
    try {
      const { rows } = await this.query<{ pid: number }>(INTRODUCTION);
      // Behind a pooler that shares sessions, the next statement may be another's.
      if (rows[0]?.pid === processID) this.#processId = processID;
    } catch {
      // A connection that broke rejects the statement that uses it.
    }
  }

  /** Ends the connection at once, without a termination message, for a server that may not read it. */
  discard(reason: Error): void {
    this.#connection.stream.destroy(reason);
  }

  /** Ends the connection when nothing passes for so long; for streams, which have no other limit. */
  discardWhenIdle(idleMs: number): void {
    this.#connection.stream.setTimeout(idleMs, () => this.discard(new AnswerTimeoutError(idleMs)));
  }

  #arm(limitMs = this.#config.statementLimitMs): void {
    this.#startedMs = performance.now();
    if (limitMs === undefined) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    } else if (this.#timer !== undefined && this.#timerMs === limitMs) {
      this.#timer.refresh();
    } else {
      clearTimeout(this.#timer);
      this.#timerMs = limitMs;
      this.#timer = setTimeout(() => this.#expire(), limitMs).unref();
    }
  }

  #expire(): void {
    const startedMs = this.#startedMs;
    if (startedMs === NEVER) return;
    // When this process itself stood still, the answer may lie in the socket: it is read before this runs.
    setImmediate(() => {
      if (this.#startedMs !== startedMs) return;
      this.discard(new AnswerTimeoutError(this.#timerMs));
      this.#config.onSilence?.(startedMs);
    });
  }

  #answered(): void {
    this.#startedMs = NEVER;
    this.#answeredMs = performance.now();
    this.#config.onAnswer?.();
    // After the waiting statement has been rejected.
    if (this.#onlyReads && this.#answeredMs - this.#madeMs > READ_ONLY_KEPT_MS)
      setImmediate(() => this.discard(new Error('the server behind this connection only reads')));
  }

  #beat(): void {
    if (this.#startedMs === NEVER) this.query('select 1').catch(() => undefined);
  }

  #stopTimers(): void {
    this.#startedMs = NEVER;
    clearTimeout(this.#timer);
    clearInterval(this.#heartbeat);
  }
}
