import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Database, logger } from '#platform';

const log = logger('access');

/** How often uses are written, in milliseconds. */
const WRITE_EVERY_MS = 5_000;

/**
 * Rows that money is moving on are passed over instead of waited for: locks are taken here in no account's order.
 * Skipped keys are tried again.
 */
const WRITE_USES = `
with used as (
  select k.id, u.used_at from unnest($1::text[], $2::timestamptz[]) as u(id, used_at) join api_key k on k.id = u.id
  for no key update of k skip locked
)
update api_key k set last_used_at = greatest(k.last_used_at, used.used_at) from used where k.id = used.id
returning k.id`;

/** Notes when keys were last used. Gathered in memory and written every few seconds; a crash forgets only those. */
@Injectable()
export class LastUsedTracker implements OnModuleDestroy {
  private uses = new Map<string, Date>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly database: Database) {}

  /** Writes the last uses before the database closes. */
  onModuleDestroy(): Promise<void> {
    return this.write();
  }

  note(apiKeyId: string): void {
    this.uses.set(apiKeyId, new Date());
    this.timer ??= setTimeout(() => void this.write(), WRITE_EVERY_MS).unref();
  }

  /** Writes what was noted so far. Never throws: what could not be written is tried again. */
  async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const uses = this.uses;
    this.uses = new Map();
    if (uses.size === 0) return;
    try {
      const values = [[...uses.keys()], [...uses.values()]];
      const { rows } = await this.database.query<{ id: string }>({ text: WRITE_USES, values });
      for (const { id } of rows) uses.delete(id);
    } catch (error) {
      log.warn('key_uses.not_written', { keys: uses.size, error });
    }
    for (const [id, usedAt] of uses) if (!this.uses.has(id)) this.uses.set(id, usedAt);
  }
}
