import { BoundedClient, type Database, logger } from '#platform';
import { WakeupBuffer } from '../queue/wakeup-buffer.js';
import { type ChangedTasks, fromMessage, type TaskSignals, toMessages } from './task-signals.js';

const log = logger('task-signals');

const CHANNEL = 'task_changed';
const RECONNECT_DELAY_MS = 500;
/** How often the subscriber asks whether the server is still there, and how long it waits for anything, in milliseconds. */
const HEARTBEAT_MS = 2_000;
const LIMIT_MS = 2_000;

/** A statement that writes nothing: a NOTIFY inside a writing transaction would serialise all commits of the server. */
const NOTIFY = `select pg_notify('${CHANNEL}', message) from unnest($1::text[]) as message`;

/**
 * Signals through Postgres. The subscriber holds one connection of its own, which must reach the server directly:
 * LISTEN does not pass through a pooler in transaction mode.
 */
export class PostgresSignals implements TaskSignals {
  private readonly buffer: WakeupBuffer;
  private client: BoundedClient | undefined;
  private closed = false;

  constructor(
    private readonly databaseUrl: string,
    database: Database,
  ) {
    const send = (taskIds: string[]): Promise<unknown> =>
      database.query({ name: 'notify_task_changed', text: NOTIFY, values: [toMessages(taskIds)] });
    this.buffer = new WakeupBuffer(send, (dropped, error) => log.debug('signals.dropped', { dropped, error }));
  }

  publish(taskIds: readonly string[]): void {
    if (!this.closed) this.buffer.add(taskIds);
  }

  subscribe(listener: (changed: ChangedTasks) => void): void {
    void this.connect(listener);
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.buffer.drained();
    await this.client?.end().catch(() => undefined);
  }

  private async connect(listener: (changed: ChangedTasks) => void): Promise<void> {
    const client = new BoundedClient({
      connectionString: this.databaseUrl,
      application_name: 'generation-gateway-signals',
      connectionTimeoutMillis: LIMIT_MS,
      statementLimitMs: LIMIT_MS,
      heartbeatMs: HEARTBEAT_MS,
      keepAlive: true,
    });
    this.client = client;
    client.on('error', (error) => log.warn('signals.interrupted', { error }));
    client.on('end', () => this.reconnect(listener));
    client.on('notification', ({ payload }) => listener(fromMessage(payload ?? '')));
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
      listener('all');
    } catch (error) {
      log.warn('signals.unavailable', { error });
      // Ends in `end`, which tries again.
      await client.end().catch(() => undefined);
    }
  }

  private reconnect(listener: (changed: ChangedTasks) => void): void {
    if (this.closed) return;
    setTimeout(() => {
      if (!this.closed) void this.connect(listener);
    }, RECONNECT_DELAY_MS);
  }
}
