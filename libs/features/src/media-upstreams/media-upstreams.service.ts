import { Inject, Injectable } from '@nestjs/common';
import { Database, SecretSealer } from '#platform';
import { checkMediaUpstream } from '#providers';
import { PLATFORM, type Platform } from '#runtime';
import { AuditedChanges } from '../accounts/audit.js';
import { ManagedUpstreams } from '../upstreams/managed-upstreams.js';
import { MediaUpstreamRegistry } from './media-upstream-registry.js';
import {
  MEDIA_COLUMNS,
  mediaRowValues,
  mediaSettingsOf,
  type MediaUpstreamRow,
  StoredMediaEntry,
} from './stored-media-upstream.js';

const LIST = `select ${MEDIA_COLUMNS} from upstream where kind = 'media' and deleted_at is null order by id`;
const READ = `select ${MEDIA_COLUMNS} from upstream where kind = 'media' and deleted_at is null and id = $1`;
/** One that was removed and still drains may be set up again under its name. */
const ADD = `
insert into upstream (id, protocol, base_url, models, weight, priority, settings, enabled, api_key_sealed, kind)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'media')
on conflict (id) do update set protocol = $2, base_url = $3, models = $4, weight = $5, priority = $6, settings = $7,
  enabled = $8, api_key_sealed = $9, deleted_at = null, created_at = now(), updated_at = now()
where upstream.kind = 'media' and upstream.deleted_at is not null
returning ${MEDIA_COLUMNS}`;
const CHANGE = `
update upstream set protocol = $2, base_url = $3, models = $4, weight = $5, priority = $6, settings = $7, enabled = $8,
  api_key_sealed = $9, updated_at = now()
where id = $1 returning ${MEDIA_COLUMNS}`;
const REMOVE = 'update upstream set deleted_at = now(), updated_at = now() where id = $1';

/**
 * The upstreams of media, for operators (see `MediaUpstreamRegistry`). A removed one is deleted once its running work has ended.
 */
@Injectable()
export class MediaUpstreamsService extends ManagedUpstreams<MediaUpstreamRow, StoredMediaEntry> {
  constructor(
    database: Database,
    changes: AuditedChanges,
    sealer: SecretSealer,
    registry: MediaUpstreamRegistry,
    @Inject(PLATFORM) { config }: Platform,
  ) {
    const reach = { isReached: config.server.PUBLIC_BASE_URL !== undefined };
    const kind = {
      shown: { kind: 'media' },
      name: 'a media upstream',
      statements: { list: LIST, read: READ, add: ADD, change: CHANGE, remove: REMOVE },
      settingsOf: mediaSettingsOf,
      check: (sent: unknown) => checkMediaUpstream(StoredMediaEntry, sent, reach),
      valuesOf: (entry: StoredMediaEntry, sealedKey: Buffer | null) => [...mediaRowValues(entry), sealedKey],
      movedBy,
    };
    super(kind, database, changes, sealer, registry);
  }
}

/** A protocol has an address of its own, so that another protocol is another server. */
function movedBy(before: MediaUpstreamRow, entry: StoredMediaEntry): string | undefined {
  const origin = (url: string | null | undefined): string => (url ? new URL(url).origin : '');
  const isSame = before.protocol === entry.protocol && origin(before.base_url) === origin(entry.base_url);
  return isSame ? undefined : 'the upstream';
}
