import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { type Clock, Database, logger, PeriodicTask, timeOrderedId } from '#platform';

const log = logger('ledger');

/** How often a process that holds money says that it lives, in milliseconds. */
const BEAT_MS = 1_000;
/** Who has been silent for so long while the database answered others is dead, in milliseconds. */
const SILENT_MS = 6_000;
/** A look this long after the one before it says nothing about who was silent in between, in milliseconds. */
const GAP_MS = 3_000;
/** How long the dead are remembered, for what they might still have written as they died. */
const REMEMBERED = `interval '10 minutes'`;

const BEAT = `
insert into holding_process (id) values ($1) on conflict (id) do update set seen_at = now()`;
/** Nothing is to be waited for any more. */
const GONE = `update holding_process set seen_at = '-infinity' where id = $1`;
const LIVES = `
with forgotten as (delete from holding_process where seen_at < now() - ${REMEMBERED} and seen_at > '-infinity'
  or seen_at = '-infinity' and not exists (select from request_hold h where h.process_id = holding_process.id))
select id, seen_at::text as seen from holding_process`;

/** This process, as the holder of its holds and reservations: when it dies, they are given back within seconds. */
@Injectable()
export class HoldingProcess implements OnModuleInit, OnApplicationShutdown {
  readonly id = timeOrderedId('process');
  private readonly loop = new PeriodicTask('holding-process', BEAT_MS, async () => {
    await this.say('holding_beat', BEAT);
    return false;
  });

  constructor(private readonly database: Database) {}

  /** Before anything is held. */
  async onModuleInit(): Promise<void> {
    await this.say('holding_beat', BEAT);
    this.loop.start();
  }

  /** After everything that could be settled was. */
  onApplicationShutdown(): Promise<void> {
    return this.stop();
  }

  async stop(): Promise<void> {
    await this.loop.stop();
    await this.say('holding_gone', GONE);
  }

  private async say(name: string, text: string): Promise<void> {
    try {
      await this.database.query({ name, text, values: [this.id] });
    } catch (error) {
      log.warn('holding_process.not_seen', { error });
    }
  }
}

/**
 * Watches the processes that hold money. A process is dead when its word stands still for seconds in which we could
 * read it without a gap: a database that was away for all, or a clock that is wrong, makes nobody dead. One that was only
 * slow goes on, and charges what it still delivers without a hold.
 */
export class HoldingProcesses {
  private seen = new Map<string, { readonly word: string; readonly sinceMs: number }>();
  private lookedMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** The dead. Call it about once a second. */
  async dead(): Promise<string[]> {
    const { rows } = await this.database.query<{ id: string; seen: string }>({ name: 'holding_lives', text: LIVES });
    const nowMs = this.clock.elapsedMs();
    const before = nowMs - this.lookedMs > GAP_MS ? new Map<string, never>() : this.seen;
    this.lookedMs = nowMs;
    this.seen = new Map(
      rows.map(({ id, seen: word }) => {
        const known = before.get(id);
        return [id, known?.word === word ? known : { word, sinceMs: nowMs }];
      }),
    );
    const isDead = ({ word, sinceMs }: { word: string; sinceMs: number }): boolean =>
      word === '-infinity' || nowMs - sinceMs >= SILENT_MS;
    return [...this.seen].flatMap(([id, life]) => (isDead(life) ? [id] : []));
  }
}
