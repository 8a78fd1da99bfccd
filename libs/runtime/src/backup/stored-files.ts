import type { Client } from 'pg';

/** A file of the store that a row names. */
export interface NamedFile {
  readonly key: string;
  readonly bytes: number;
  readonly contentType: string;
  /** In lower-case hexadecimal. */
  readonly sha256: string;
}

interface FileSource {
  readonly table: string;
  readonly column: string;
  /** Selects those that are kept, as `key`, `bytes`, `contentType` and `sha256`; or as `kept`, that in JSON behind `kept:`. */
  readonly text: string;
}

/** Everything in the database that names files of the store. A spec finds columns named `store_key` that are not here. */
export const FILE_SOURCES: readonly FileSource[] = [
  {
    table: 'task_file',
    column: 'store_key',
    // What failed tasks left behind is only noted to be removed.
    text: `select store_key as key, bytes::text, content_type as "contentType", sha256 from task_file
      where removed_at is null and task_id in (select id from task where state = 'completed') order by store_key`,
  },
  {
    table: 'uploaded_file',
    column: 'store_key',
    // The others are on their way in or out.
    text: `select store_key as key, bytes::text, content_type as "contentType", sha256 from uploaded_file
      where state = 'ready' order by store_key`,
  },
  {
    table: 'task',
    column: 'outputs',
    // Files that came inside the answer of a vendor, until the end of their task writes them into task_file.
    text: `select output->>'url' as kept from task cross join jsonb_array_elements(outputs) as output
      where state = 'storing' and output->>'url' like 'kept:%' order by id`,
  },
];

/** The files that rows name, each once. */
export async function namedFiles(client: Client): Promise<readonly NamedFile[]> {
  const files = new Map<string, NamedFile>();
  for (const { text } of FILE_SOURCES) {
    const { rows } = await client.query<Record<string, string>>(text);
    for (const row of rows) {
      const file = row['kept'] === undefined ? row : readKept(row['kept']);
      const { key, bytes, contentType = '', sha256 = '' } = file;
      if (typeof key === 'string') files.set(key, { key, bytes: Number(bytes), contentType, sha256 });
    }
  }
  return [...files.values()];
}

/** A vendor may write what it likes there; what is no file of ours names none. */
function readKept(url: string): Partial<Record<string, string>> {
  try {
    return JSON.parse(url.slice('kept:'.length)) as Partial<Record<string, string>>;
  } catch {
    return {};
  }
}
