import { Equals, IsBoolean, Matches } from 'class-validator';
import type { JsonObject } from '#contracts';
import { checkMediaUpstream, IsUpstreamKey, MediaUpstreamEntry } from '#providers';
import type { UpstreamKind, UpstreamRow } from './upstream-kind.js';

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

export interface MediaUpstreamRow extends UpstreamRow {
  readonly protocol: string;
  readonly base_url: string | null;
  readonly models: JsonObject;
  readonly weight: number;
  readonly priority: number;
  /** What only media upstreams have, in the words of the file. */
  readonly settings: JsonObject;
}

/** `models: all`, which is no list of models, as it is kept. */
const ALL = { '*': 'all' };

/**
 * Upstreams of media, for whatever follows and changes them.
 *
 * @param reach whether vendors can call this gateway; those that are already configured are followed even so.
 */
export const mediaKind = (reach?: {
  readonly isReached: boolean;
}): UpstreamKind<MediaUpstreamRow, StoredMediaEntry> => ({
  kind: 'media',
  name: 'a media upstream',
  shown: { kind: 'media' },
  written: ['id', 'protocol', 'base_url', 'models', 'weight', 'priority', 'settings', 'enabled'],
  drains: true,
  settingsOf: ({ id, protocol, base_url, models, weight, priority, settings, enabled }) => ({
    id,
    protocol,
    models: '*' in models ? 'all' : models,
    weight,
    priority,
    ...settings,
    enabled,
    ...(base_url !== null && { base_url }),
  }),
  check: (sent) => checkMediaUpstream(StoredMediaEntry, sent, reach),
  valuesOf: ({ id, protocol, base_url, models, weight, priority, enabled, key: _key, ...settings }) => [
    id,
    protocol,
    base_url ?? null,
    models === 'all' ? ALL : models,
    weight,
    priority,
    settings,
    enabled,
  ],
  /** A protocol has an address of its own, so that another protocol is another server. */
  movedBy: (before, entry) => {
    const origin = (url: string | null | undefined): string => (url ? new URL(url).origin : '');
    const isSame = before.protocol === entry.protocol && origin(before.base_url) === origin(entry.base_url);
    return isSame ? undefined : 'the upstream';
  },
});
