import { setTimeout as after } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database, lruCache } from '#platform';

/** Results lie in a folder named after their task; an upload names its key. */
const OWNER = `
select account_id from task where id = $1
union all select account_id from uploaded_file where store_key = $2`;

/** The folder of a task's results. */
const RESULTS = /^media\/(\w+)/;

const KNOWN_MAX = 10_000;

/** Files are read without the database as well: where it does not answer, this is how long they wait for it. */
const PATIENCE_MS = 500;

/** Says whose a stored file is. */
@Injectable()
export class FileOwners {
  private readonly known = lruCache<string, string>(KNOWN_MAX);

  constructor(private readonly database: Database) {}

  /** The account of a file, by its name in the store; what it belongs to, where that cannot be found out. */
  async of(key: string): Promise<string> {
    const taskId = RESULTS.exec(key)?.[1];
    const name = taskId ?? key;
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const found = await Promise.race([this.find(taskId ?? '', key), after(PATIENCE_MS, undefined, { ref: false })]);
    if (found !== undefined) this.known.set(name, found);
    return found ?? name;
  }

  private async find(taskId: string, key: string): Promise<string | undefined> {
    try {
      const { rows } = await this.database.query<{ account_id: string }>({ text: OWNER, values: [taskId, key] });
      return rows[0]?.account_id;
    } catch {
      // A link stays good while the database is away.
      return undefined;
    }
  }
}
