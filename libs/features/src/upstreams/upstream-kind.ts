import type { JsonObject } from '#contracts';
import type { SecretSealer } from '#platform';
import { fieldName, type UpstreamMistake } from '#providers';

/** A row of `upstream`, as far as both kinds have it. */
export interface UpstreamRow {
  readonly id: string;
  readonly api_key_sealed: Buffer | null;
  readonly enabled: boolean;
  /** It was removed, and stays until its running work has ended; null: it is there. */
  readonly deleted_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  /** Differs after every change, however it was made; the same at every replica. */
  readonly revision: string;
}

/** SQL: whether orders are at a media upstream, or files that come from there. @param id an expression. */
export const atWork = (id: string): string => `(
  exists (select from task t where t.provider = ${id} and t.state in ('submitting', 'running'))
  or exists (select from task t where t.provider = ${id} and t.state = 'storing'))`;

/** What changes when anything in a row of `upstream` does, as `revision`. */
export const REVISION = 'left(md5(upstream::text), 12) as revision';

/** What upstreams of text and of media differ in, as far as a file, a table and operators are concerned. */
export interface UpstreamKind<Row extends UpstreamRow, Entry> {
  readonly kind: 'text' | 'media';
  /** In a sentence: `an upstream`. */
  readonly name: string;
  /** Shown beside the settings, such as `kind`. */
  readonly shown: JsonObject;
  /** The columns that an entry fills, in the order of `valuesOf`; the id is the first. */
  readonly written: readonly string[];
  /** Whether the row of a removed one stays until nothing names it any more. */
  readonly drains: boolean;
  settingsOf(row: Row): JsonObject;
  check(sent: JsonObject): { readonly checked: Entry; readonly mistakes: readonly UpstreamMistake[] };
  /** In the order of `written`; objects are written as JSON. */
  valuesOf(entry: Entry): unknown[];
  /** What moves in the refusal to send a key that is set to another server; undefined while it stays where it is. */
  movedBy(before: Row, entry: Entry): string | undefined;
}

/** Statements on the rows of one kind. All but `remove` and `forget` return rows. */
export function statementsOf({
  kind,
  written: settings,
  drains,
}: Pick<UpstreamKind<never, unknown>, 'kind' | 'written' | 'drains'>) {
  const written = [...settings, 'api_key_sealed'];
  const columns = `${written.join(', ')}, deleted_at, created_at, updated_at, ${REVISION}`;
  const ofKind = `from upstream where kind = '${kind}'`;
  const present = `select ${columns} ${ofKind} and deleted_at is null`;
  const places = written.map((_column, index) => `$${index + 1}`).join(', ');
  const changes = written.flatMap((column, index) => (index === 0 ? [] : [`${column} = $${index + 1}`])).join(', ');
  return {
    revisions: `select id, ${REVISION} ${ofKind}`,
    /** $1 ids; also those that were removed and drain. */
    readAll: `select ${columns} ${ofKind} and id = any($1)`,
    /** $1 id. */
    atWork: `select ${atWork('$1')} as yes`,
    list: `${present} order by id`,
    /** $1 id. */
    read: `${present} and id = $1`,
    /** The values of an entry, and its sealed key. No row: the id is taken; but one that was removed and still drains may be set up again under its name. */
    add: `insert into upstream (${written.join(', ')}, kind) values (${places}, '${kind}')
      on conflict (id) do update set ${changes}, deleted_at = null, created_at = now(), updated_at = now()
      where upstream.kind = '${kind}' and upstream.deleted_at is not null
      returning ${columns}`,
    /** The same. */
    change: `update upstream set ${changes}, updated_at = now() where id = $1 returning ${columns}`,
    /** $1 id. */
    remove: drains
      ? `update upstream set deleted_at = now(), updated_at = now() where kind = '${kind}' and id = $1`
      : `delete ${ofKind} and id = $1`,
  };
}

/** A sealed key opens for the upstream it was sealed for and no other. */
const ownerOf = (id: string): string => `upstream ${id}`;

export const sealUpstreamKey = (sealer: SecretSealer, id: string, key: string): Buffer => sealer.seal(key, ownerOf(id));

/** The key of an upstream, undefined when it has none. @throws Error when it was sealed under another KEY_PEPPER. */
export const openUpstreamKey = (
  sealer: SecretSealer,
  { id, api_key_sealed: sealed }: Pick<UpstreamRow, 'id' | 'api_key_sealed'>,
): string | undefined => (sealed === null ? undefined : sealer.open(sealed, ownerOf(id)));

/** The entry in a row, or what is wrong with it: rows may be written by hand, and KEY_PEPPER may have changed. */
export function entryOf<Row extends UpstreamRow, Entry>(
  kind: UpstreamKind<Row, Entry>,
  sealer: SecretSealer,
  row: Row,
): { readonly entry: Entry } | { readonly problem: string } {
  let key: string | undefined;
  try {
    key = openUpstreamKey(sealer, row);
  } catch {
    return { problem: 'Its key was sealed under another KEY_PEPPER: set the key again.' };
  }
  try {
    const { checked, mistakes } = kind.check({ ...kind.settingsOf(row), ...(key !== undefined && { key }) });
    if (mistakes.length === 0) return { entry: checked };
    return { problem: `${mistakes.map(({ path, rule }) => `${fieldName(path)} ${rule}`).join('; ')}.` };
  } catch {
    // One row that nothing can be made of must not keep the others from being followed.
    return { problem: 'Its settings cannot be read: set it up again.' };
  }
}
