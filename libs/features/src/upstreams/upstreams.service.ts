import { Injectable } from '@nestjs/common';
import { Database, SecretSealer } from '#platform';
import { checkUpstream } from '#providers';
import { AuditedChanges } from '../audit/audit.js';
import { ManagedUpstreams } from './managed-upstreams.js';
import { settingsOf, StoredUpstreamEntry, UPSTREAM_COLUMNS, type UpstreamRow } from './stored-upstream.js';
import { UpstreamRegistry } from './upstream-registry.js';

const LIST = `select ${UPSTREAM_COLUMNS} from upstream where kind = 'text' order by id`;
const READ = `select ${UPSTREAM_COLUMNS} from upstream where kind = 'text' and id = $1`;
const ADD = `
insert into upstream (id, protocol, base_url, models, weight, priority, timeouts, output_limit_field, enabled, api_key_sealed,
  allow, fetches_urls, model_limits, translation, embedding_models, settings)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) on conflict (id) do nothing returning ${UPSTREAM_COLUMNS}`;
const CHANGE = `
update upstream set protocol = $2, base_url = $3, models = $4, weight = $5, priority = $6, timeouts = $7,
  output_limit_field = $8, enabled = $9, api_key_sealed = $10, allow = $11, fetches_urls = $12, model_limits = $13,
  translation = $14, embedding_models = $15, settings = $16, updated_at = now()
where id = $1 returning ${UPSTREAM_COLUMNS}`;
const REMOVE = `delete from upstream where kind = 'text' and id = $1`;

/** The upstreams of text models, for operators (see `UpstreamRegistry`). */
@Injectable()
export class UpstreamsService extends ManagedUpstreams<UpstreamRow, StoredUpstreamEntry> {
  constructor(database: Database, changes: AuditedChanges, sealer: SecretSealer, registry: UpstreamRegistry) {
    const statements = { list: LIST, read: READ, add: ADD, change: CHANGE, remove: REMOVE };
    const check = (sent: unknown) => checkUpstream(StoredUpstreamEntry, sent);
    const kind = { shown: {}, name: 'an upstream', statements, settingsOf, check, valuesOf, movedBy };
    super(kind, database, changes, sealer, registry);
  }
}

function movedBy({ base_url: before }: UpstreamRow, entry: StoredUpstreamEntry): string | undefined {
  if (entry.protocol === 'sandbox') return undefined;
  const isSame = before !== null && new URL(entry.base_url).origin === new URL(before).origin;
  return isSame ? undefined : 'base_url';
}

const valuesOf = (entry: StoredUpstreamEntry, sealedKey: Buffer | null): unknown[] => [
  entry.id,
  entry.protocol,
  entry.protocol === 'sandbox' ? null : entry.base_url,
  JSON.stringify(entry.models),
  entry.weight,
  entry.priority,
  JSON.stringify(entry.timeouts),
  entry.output_limit_field,
  entry.enabled,
  sealedKey,
  JSON.stringify(entry.allow),
  entry.fetches_urls,
  JSON.stringify(entry.model_limits),
  JSON.stringify(entry.translation),
  JSON.stringify(entry.embedding_models),
  JSON.stringify(entry.vendor_account === undefined ? {} : { vendor_account: entry.vendor_account }),
];
