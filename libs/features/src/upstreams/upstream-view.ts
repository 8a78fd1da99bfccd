import type { JsonObject } from '#contracts';
import type { ManagedRow } from './upstream-row.js';

/** An upstream as operators see it: its settings in the words of UPSTREAMS_FILE, but never its key. */
export interface UpstreamView {
  readonly id: string;
  /** Those of the file are changed there, with a restart. */
  readonly source: 'file' | 'database';
  readonly settings: JsonObject;
  readonly key_set: boolean;
  /** The last characters of a key long enough to show some; null else. */
  readonly key_ends_with: string | null;
  /** Why requests do not reach it although it is enabled; null when they do. */
  readonly problem: string | null;
  readonly created_at: Date | null;
  readonly updated_at: Date | null;
}

const SHOWN_CHARACTERS = 4;
/** Of a shorter key the end would reveal too much. */
const KEY_LENGTH_MIN = 16;

/** The last characters of a key that is long enough to show some. */
const keyEnd = (key: string | undefined): string | null =>
  key === undefined || key.length < KEY_LENGTH_MIN ? null : key.slice(-SHOWN_CHARACTERS);

/** An upstream of the file, of either kind. */
export interface FileEntry {
  readonly id: string;
  readonly key?: string | undefined;
}

export function viewOfEntry({ key, ...entry }: FileEntry): UpstreamView {
  return {
    id: entry.id,
    source: 'file',
    settings: { ...(JSON.parse(JSON.stringify(entry)) as JsonObject), enabled: true },
    key_set: key !== undefined,
    key_ends_with: keyEnd(key),
    problem: null,
    created_at: null,
    updated_at: null,
  };
}

/** @param key undefined when there is none, or when it cannot be opened. */
export const viewOfRow = (
  row: ManagedRow,
  settings: JsonObject,
  key: string | undefined,
  problem: string | undefined,
): UpstreamView => ({
  id: row.id,
  source: 'database',
  settings,
  key_set: row.api_key_sealed !== null,
  key_ends_with: keyEnd(key),
  problem: problem ?? null,
  created_at: row.created_at,
  updated_at: row.updated_at,
});
