import { Pool, type PoolClient, type PoolConfig } from 'pg';
import {
  type Admission,
  type BreakerPolicy,
  CircuitBreaker,
  type Circuits,
  FREELY,
} from '../circuits/circuit-breaker.js';
import { Cooldowns } from '../circuits/cooldowns.js';
import { systemClock } from '../clock/clock.js';
import { logger } from '../log/logger.js';
import { LongWaits } from './long-waits.js';
import { BoundedClient, type BoundedClientConfig } from './bounded-client.js';
import { NamedError } from '../named-error.js';

const log = logger('database');

/** Settings of a pool; every limit is one of a single wait, in milliseconds. */
export interface BoundedPoolConfig extends Omit<PoolConfig, 'Client'> {
  readonly connectionTimeoutMillis: number;
  readonly statementLimitMs: number;
  readonly heartbeatMs?: number;
}

/** One wait without any answer says it all; then a connection of the pool's own asks four times a second whether the server is back. */
const POLICY: BreakerPolicy = {
  failures: 1,
  callers: 1,
  evidence: 'failed',
  firstMs: 250,
  longestMs: 250,
  misconfiguredMs: 250,
};
/** The pool is the only caller of its server. */
const SERVER: Circuits = { all: 'server', own: 'server|pool', caller: 'pool' };

/**
 * A refusal takes so long, in milliseconds. Callers that try again at once, as BullMQ does, would otherwise leave the
 * process no time for anything else, and so none for the look that ends the refusals.
 */
const REFUSAL_MS = 50;

/** A statement that takes so much longer than the usual limit is looked after, in milliseconds. */
const LONG_AFTER_MS = 1_000;

/** How long a closed pool waits for statements under way, in milliseconds. */
const END_LIMIT_MS = 5_000;

/** The server has stopped answering: requests fail at once until it answers again. */
export class CircuitOpenError extends NamedError {
  readonly code = 'ETIMEDOUT';

  constructor(cause: unknown) {
    super('Postgres does not answer', { cause });
  }
}

/** A refused connection says at once how things stand; only silence is to be waited for, and so to be remembered. */
const isTimeout = (error: Error): boolean => /timeout/i.test(error.message);

/** Waited for by the pool, whatever its typings say. */
const introduce = (client: unknown): unknown => (client as BoundedClient).introduce();

type Acquired = (error: Error | undefined, client: PoolClient | undefined, done: (release?: unknown) => void) => void;

/**
 * A pool on which no statement waits forever. A statement without an answer closes its connection, and the idle ones not
 * heard from since it began: what cut it off has most likely cut them off too. When no statement at all was
 * answered meanwhile, the circuit opens: all are refused at once, while one connection of its own probes the
 * server.
 */
export class BoundedPool extends Pool {
  readonly #clients = new Set<BoundedClient>();
  readonly #clientConfig: BoundedClientConfig;
  #answeredMs = performance.now();
  readonly #longWaits: LongWaits;
  readonly #breaker = new CircuitBreaker(new Cooldowns(systemClock), POLICY);
  /** Why the circuit opened last. */
  #cause: CircuitOpenError | undefined;
  #probe: NodeJS.Timeout | undefined;

  constructor(config: BoundedPoolConfig) {
    const clientConfig: BoundedClientConfig = {
      ...config,
      keepAlive: true,
      onSilence: (startedMs) => this.#noteSilence(startedMs),
      onAnswer: () => this.#noteAnswer(),
    };
    super({ ...clientConfig, Client: BoundedClient, onConnect: introduce });
    this.#clientConfig = clientConfig;
    this.#longWaits = new LongWaits(this, this.#clients, config.statementLimitMs + LONG_AFTER_MS);
    this.on('connect', (client) => {
      this.#clients.add(client as unknown as BoundedClient);
      // A connection can break in the moment between being ready and being handed out, when it has no listener yet; an
      // error without a listener would end the process. The next statement on the connection fails with it.
      client.on('error', () => undefined);
    });
    this.on('remove', (client) => this.#clients.delete(client as unknown as BoundedClient));
  }

  /** Why statements are refused at the moment; undefined while the server answers. */
  get silence(): Error | undefined {
    return this.#breaker.isOpen(SERVER.all) ? this.#cause : undefined;
  }

  /** How long the longest wait for an answer has lasted since the last answer to any statement, in milliseconds; 0 when none waits. */
  waitingMs(): number {
    const started = [...this.#clients].map(({ startedMs }) => startedMs).filter((startedMs) => startedMs !== undefined);
    if (started.length === 0) return 0;
    return performance.now() - Math.max(Math.min(...started), this.#answeredMs);
  }

  override connect(): Promise<PoolClient>;
  override connect(acquired: Acquired): void;
  override connect(acquired?: Acquired): Promise<PoolClient> | void {
    if (acquired === undefined) {
      return new Promise((resolve, reject) => {
        this.connect((error, client) => (client === undefined ? reject(error) : resolve(client)));
      });
    }
    const { silence } = this;
    if (silence) return void setTimeout(() => acquired(silence, undefined, () => undefined), REFUSAL_MS);
    const startedMs = performance.now();
    super.connect((error, client, done) => {
      if (error && isTimeout(error)) this.#openIfSilentSince(startedMs, error);
      acquired(error, client, done);
    });
  }

  override end(): Promise<void>;
  override end(ended: () => void): void;
  override end(ended?: () => void): Promise<void> | void {
    clearTimeout(this.#probe);
    this.#longWaits.stop();
    this.#breaker.close(SERVER);
    setTimeout(() => this.#discardAll(), END_LIMIT_MS).unref();
    return ended === undefined ? super.end() : super.end(ended);
  }

  #noteSilence(startedMs: number): void {
    const reason = new Error('the connection was not heard of since another one fell silent');
    for (const client of this.#clients)
      if (client.startedMs === undefined && client.answeredMs < startedMs) client.discard(reason);
    this.#openIfSilentSince(startedMs, reason);
  }

  #discardAll(): void {
    for (const client of this.#clients) client.discard(new Error('the pool was closed'));
  }

  #openIfSilentSince(startedMs: number, cause: unknown): void {
    if (this.silence || this.ending || this.#answeredMs >= startedMs) return;
    this.#cause = new CircuitOpenError(cause);
    this.#breaker.recordFailure(SERVER, FREELY);
    log.warn('circuit.opened', { error: cause });
    void this.#probeOnce(FREELY);
  }

  #noteAnswer(): void {
    this.#answeredMs = performance.now();
    if (!this.silence) return;
    this.#breaker.close(SERVER);
    clearTimeout(this.#probe);
    log.info('circuit.closed');
  }

  #scheduleProbe(): void {
    const delayMs = this.#breaker.coolingMs([SERVER.all, SERVER.own]);
    this.#probe = setTimeout(() => void this.#probeWhenDue(), delayMs).unref();
  }

  async #probeWhenDue(): Promise<void> {
    const admission = await this.#breaker.admits(SERVER);
    if (!this.silence || this.ending) return;
    // A timer may fire a moment before the cooldown is over.
    if (admission) await this.#probeOnce(admission);
    else this.#scheduleProbe();
  }

  /** On a connection of its own: those of the pool may all be held by statements that wait. An answer closes the circuit. */
  async #probeOnce(admission: Admission): Promise<void> {
    const client = new BoundedClient({ ...this.#clientConfig, onSilence: () => undefined });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('select 1');
    } catch (error) {
      log.debug('circuit.still_open', { error });
    } finally {
      client.end().catch(() => undefined);
    }
    if (!this.silence || this.ending) return;
    this.#breaker.recordFailure(SERVER, admission);
    this.#scheduleProbe();
  }
}
