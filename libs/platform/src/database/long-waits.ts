import { logger } from '../log/logger.js';
import { AnswerTimeoutError, type BoundedClient } from './bounded-client.js';

const log = logger('database');

/** How often statements that take long are looked after, in milliseconds. */
const CHECK_EVERY_MS = 1_000;

const IDLE_AMONG = `
select asked.pid from unnest($1::integer[]) as asked (pid)
left join pg_stat_activity a on a.pid = asked.pid where a.pid is null or a.state like 'idle%'`;

/** Anything that answers the question; a pool. */
interface Asked {
  query(statement: { text: string; values: unknown[] }): Promise<{ rows: unknown[] }>;
}

interface Wait {
  readonly client: BoundedClient;
  readonly startedMs: number;
  readonly processId: number;
}

/**
 * Tells a statement that works long from one whose answer was lost: only the server knows. While a connection waits long,
 * another one asks what the server's process behind it does; one that twice does nothing will never answer.
 */
export class LongWaits {
  private readonly timer: NodeJS.Timeout;
  private suspects: readonly Wait[] = [];
  private isLooking = false;

  constructor(
    private readonly pool: Asked,
    private readonly clients: ReadonlySet<BoundedClient>,
    private readonly afterMs: number,
  ) {
    this.timer = setInterval(() => void this.check(), CHECK_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private async check(): Promise<void> {
    if (this.isLooking) return;
    this.isLooking = true;
    try {
      const waits = this.longWaits();
      const suspects = waits.length === 0 ? [] : await this.withoutWork(waits);
      const isSuspected = ({ client, startedMs }: Wait): boolean =>
        this.suspects.some((before) => before.client === client && before.startedMs === startedMs);
      for (const { client, startedMs } of suspects.filter(isSuspected)) {
        if (client.startedMs === startedMs) client.discard(new AnswerTimeoutError(performance.now() - startedMs));
      }
      this.suspects = suspects;
    } catch (error) {
      log.debug('long_waits.unknown', { error });
    } finally {
      this.isLooking = false;
    }
  }

  private longWaits(): Wait[] {
    const latestMs = performance.now() - this.afterMs;
    return [...this.clients].flatMap((client) => {
      const { startedMs, processId } = client;
      if (startedMs === undefined || processId === undefined || startedMs > latestMs) return [];
      return [{ client, startedMs, processId }];
    });
  }

  private async withoutWork(waits: readonly Wait[]): Promise<Wait[]> {
    const { rows } = await this.pool.query({ text: IDLE_AMONG, values: [waits.map(({ processId }) => processId)] });
    const idle = new Set((rows as { pid: number }[]).map(({ pid }) => pid));
    return waits.filter(({ processId }) => idle.has(processId));
  }
}
