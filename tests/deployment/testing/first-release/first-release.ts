import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { JsonObject, TaskView } from '#contracts';

const FOLDER = 'tests/deployment/testing/first-release';

/** The responses that the holder of a key got. */
export interface Seen {
  readonly tasks: readonly TaskView[];
  readonly balance: JsonObject;
  readonly usage: readonly JsonObject[];
  readonly records: readonly JsonObject[];
  readonly endpoints: readonly JsonObject[];
}

/** The responses of the first release about its data; README.md says how they were recorded. */
export interface FirstRelease {
  readonly savedAt: string;
  readonly keys: Readonly<Record<'first' | 'studio', string>>;
  readonly tasks: Readonly<Record<'image' | 'video' | 'failed' | 'running' | 'waiting', string>>;
  readonly idempotent: {
    readonly path: string;
    readonly body: object;
    readonly headers: Readonly<Record<string, string>>;
    readonly answer: JsonObject;
  };
  readonly stored: JsonObject & { readonly id: string };
  readonly webhookSecret: string;
  readonly first: Seen;
  readonly studio: Seen;
  readonly accounts: readonly JsonObject[];
}

/** The settings that a later version has to keep, for what was signed, sealed and hashed to stay good. */
export const FIRST_RELEASE_SETTINGS = {
  ADMIN_TOKEN: 'the-admin-token-of-the-first-release',
  KEY_PEPPER: 'the-pepper-of-the-first-release',
  MEDIA_LINK_SECRETS: 'the-link-secret-of-the-first-release',
  PUBLIC_BASE_URL: 'http://gateway.test',
};

/** The file of the task `image`. */
export const firstReleaseImage = (): Buffer => readFileSync(join(FOLDER, 'image.png'));

/**
 * Fills an empty database with the data of the first release, on the schema of its day. All times are moved so that the
 * release stopped a moment ago: what would have run out since is as good as it was then.
 *
 * @returns the responses of the release, with their times moved alike.
 * @throws Error when a migration was edited since.
 */
export async function loadFirstRelease(databaseUrl: string): Promise<FirstRelease> {
  const tables = readTables();
  const answers = JSON.parse(readFileSync(join(FOLDER, 'answers.json'), 'utf8')) as FirstRelease;
  const seconds = secondsSince(answers.savedAt);
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await makeSchema(client, tables);
    await client.query('begin');
    // The rows come in the order of their names, not of what they refer to.
    await client.query('set local session_replication_role = replica');
    for (const { command, rows } of tables)
      await pipeline(Readable.from([moveTimes(rows, seconds, answers.savedAt)]), client.query(copyFrom(command)));
    await client.query(ADVANCE_IDENTITY);
    await client.query('commit');
  } finally {
    await client.end();
  }
  const moved = <Answers>(answers: Answers): Answers => moveAnswers(answers, seconds);
  return { ...answers, first: moved(answers.first), studio: moved(answers.studio), accounts: moved(answers.accounts) };
}

/** Rows that were copied in do not count as given out. */
const ADVANCE_IDENTITY =
  "select setval(pg_get_serial_sequence('ledger_entry', 'id'), (select max(id) from ledger_entry))";

interface SavedTable {
  readonly command: string;
  readonly rows: string;
}

const readTables = (): SavedTable[] =>
  [...readFileSync(join(FOLDER, 'database.sql'), 'utf8').matchAll(/^(COPY .+ FROM stdin);\n([^]*?)^\\\.$/gm)].map(
    ([, command = '', rows = '']) => ({ command, rows }),
  );

/** Where Prisma remembers what it did. */
const PRISMA_TABLE = `create table _prisma_migrations (
  id varchar(36) primary key, checksum varchar(64) not null, finished_at timestamptz, migration_name varchar(255) not null,
  logs text, rolled_back_at timestamptz, started_at timestamptz not null default now(), applied_steps_count integer not null default 0)`;

async function makeSchema(client: Client, [migrations]: readonly SavedTable[]): Promise<void> {
  await client.query(PRISMA_TABLE);
  for (const row of migrations?.rows.trim().split('\n') ?? []) {
    const [, checksum, , name = ''] = row.split('\t');
    const sql = readFileSync(join('prisma/migrations', name, 'migration.sql'), 'utf8');
    if (createHash('sha256').update(sql).digest('hex') !== checksum)
      throw new Error(`The migration ${name} was edited after it was released.`);
    await client.query(sql);
  }
}

/** Everything happened within one day; in the first minute of a day it happened just before its beginning. */
function secondsSince(savedAt: string): number {
  const now = Math.floor(Date.now() / 1000);
  const intoDay = now % 86_400;
  return (intoDay < 60 ? now - intoDay - 1 : now) - Math.floor(Date.parse(savedAt) / 1000);
}

const movedBy = (seconds: number, time: string): string => new Date(Date.parse(time) + seconds * 1000).toISOString();

/** Moves every field that is a time or a day; microseconds stay. */
const moveTimes = (rows: string, seconds: number, savedAt: string): string =>
  rows
    .replaceAll(
      /(?<=^|\t)(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d+)?\+00(?=\t|$)/gm,
      (_all, day: string, time: string, fraction: string | undefined) =>
        `${movedBy(seconds, `${day}T${time}Z`).slice(0, 19).replace('T', ' ')}${fraction ?? ''}+00`,
    )
    .replaceAll(/(?<=^|\t)\d{4}-\d\d-\d\d(?=\t|$)/gm, () => movedBy(seconds, savedAt).slice(0, 10));

const moveAnswers = <Answers>(answers: Answers, seconds: number): Answers =>
  JSON.parse(JSON.stringify(answers), (name, value: unknown) => {
    if (typeof value === 'number' && TASK_TIMES.has(name)) return value + seconds;
    if (typeof value !== 'string' || !ROW_TIME.test(value)) return value;
    return value.replace(ROW_TIME, (_all, second: string, fraction: string) =>
      movedBy(seconds, `${second}Z`).replace('.000Z', `${fraction}Z`),
    );
  }) as Answers;

const TASK_TIMES = new Set(['created', 'started', 'completed']);
const ROW_TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)Z$/;
