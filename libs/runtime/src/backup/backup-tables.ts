import type { Client } from 'pg';
import { BoundedClient } from '#platform';

/** A table of ours, in the order in which tables can be filled: what is referred to comes first. */
export interface BackupTable {
  readonly name: string;
  /** In the order in which they are written; generated columns are left out. */
  readonly columns: readonly string[];
}

/** What the migrations themselves write, and what is rebuilt from the rest. */
const LEFT_OUT = ['_prisma_migrations', 'task_poll'];

const TABLES = `
select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
from pg_class c join pg_attribute a on a.attrelid = c.oid
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  and c.relpersistence = 'p' and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  and c.relname <> all($1)
group by c.relname order by c.relname`;

const REFERENCES = `
select child.relname as child, parent.relname as parent from pg_constraint k
join pg_class child on child.oid = k.conrelid join pg_class parent on parent.oid = k.confrelid
where k.contype = 'f' and child.oid <> parent.oid`;

/** Every table that a backup holds. A new table is included automatically. */
export async function backupTables(client: Client): Promise<BackupTable[]> {
  const { rows: tables } = await client.query<BackupTable>(TABLES, [LEFT_OUT]);
  const { rows: references } = await client.query<{ child: string; parent: string }>(REFERENCES);
  const ordered: BackupTable[] = [];
  const place = (table: BackupTable, above: readonly string[]): void => {
    if (ordered.includes(table)) return;
    if (above.includes(table.name)) throw new Error(`Tables refer to each other in a circle: ${above.join(', ')}.`);
    const parents = references.filter(({ child }) => child === table.name).map(({ parent }) => parent);
    for (const parent of tables.filter(({ name }) => parents.includes(name))) place(parent, [...above, table.name]);
    ordered.push(table);
  };
  for (const table of tables) place(table, []);
  return ordered;
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const CONNECT_LIMIT_MS = 10_000;
/** The server checks a table's references after its last row, and sends nothing meanwhile. */
const SILENCE_LIMIT_MS = 15 * 60_000;

/** A connection for copies of whole tables, which may take hours as long as something passes. */
export async function connectForCopies(databaseUrl: string, purpose: 'backup' | 'restore'): Promise<BoundedClient> {
  const client = new BoundedClient({
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    keepAlive: true,
    application_name: `generation-gateway-${purpose}`,
  });
  // Reported by the running statement, if there is one.
  client.on('error', () => undefined);
  await client.connect();
  client.discardWhenIdle(SILENCE_LIMIT_MS);
  return client;
}
