import { Equals, IsBoolean, Matches } from 'class-validator';
import type { JsonObject } from '#contracts';
import type { SecretSealer } from '#platform';
import { IsUpstreamKey, MediaUpstreamEntry } from '#providers';
import { openUpstreamKey, REVISION } from './upstream-row.js';

/** The settings of a media upstream in the database: those of the file, and whether it is in service. */
export class StoredMediaEntry extends MediaUpstreamEntry {
  // Said again: what a class says of a property takes the place of what its parent says.
  @IsUpstreamKey()
  @Matches(/^(?!.*\$\{)/, {
    message: '$property must be the key itself: ${NAME} is filled in from the environment only in UPSTREAMS_FILE',
  })
  declare key?: string;

  /** Files are read where UPSTREAMS_FILE is. */
  @Equals(undefined, { message: '$property is read in UPSTREAMS_FILE only: send key, which is the file in base64' })
  declare service_account_file?: string;

  @IsBoolean()
  enabled = true;
}

/** A media upstream as the database keeps it. */
export interface MediaUpstreamRow {
  readonly id: string;
  readonly protocol: string;
  readonly base_url: string | null;
  readonly api_key_sealed: Buffer | null;
  readonly models: JsonObject;
  readonly weight: number;
  readonly priority: number;
  /** What only media upstreams have, in the words of the file. */
  readonly settings: JsonObject;
  readonly enabled: boolean;
  /** It was removed, and stays until its running work has ended. */
  readonly deleted_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly revision: string;
}

export const MEDIA_COLUMNS = `id, protocol, base_url, api_key_sealed, models, weight, priority, settings, enabled,
  deleted_at, created_at, updated_at, ${REVISION} as revision`;

/** `models: all`, which is no list of models, as it is kept. */
const ALL = { '*': 'all' };

/** The settings in a row as an operator would send them, the key left out. */
export function mediaSettingsOf(row: MediaUpstreamRow): JsonObject {
  const { id, protocol, base_url, models, weight, priority, settings, enabled } = row;
  const all = '*' in models;
  const stored = { id, protocol, models: all ? 'all' : models, weight, priority, ...settings, enabled };
  return base_url === null ? stored : { ...stored, base_url };
}

/** The same with the key. @throws Error when it was sealed under another KEY_PEPPER. */
export function mediaEntryOf(sealer: SecretSealer, row: MediaUpstreamRow): JsonObject {
  const key = openUpstreamKey(sealer, row);
  return { ...mediaSettingsOf(row), ...(key === undefined ? {} : { key }) };
}

/** What a row says, in the order of the columns: id, protocol, base_url, models, weight, priority, settings, enabled. */
export function mediaRowValues(entry: StoredMediaEntry): unknown[] {
  const { id, protocol, base_url: baseUrl, models, weight, priority, enabled, key: _key, ...settings } = entry;
  const named = models === 'all' ? ALL : models;
  const place = [id, protocol, baseUrl ?? null, JSON.stringify(named), weight, priority];
  return [...place, JSON.stringify(settings), enabled];
}
