import { Inject, Injectable } from '@nestjs/common';
import { type CallFacts, GatewayError, type MediaUpstream } from '#contracts';
import { Database, SecretSealer } from '#platform';
import { checkMediaUpstream, VERIFY_REMEDIES, type VerifyProblem } from '#providers';
import { PLATFORM, type Platform } from '#runtime';
import { AuditedChanges } from '../audit/audit.js';
import { ManagedUpstreams } from './managed-upstreams.js';
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

/** What a call that is free and needs the key found, in the words of the admin API. */
export interface UpstreamProof {
  readonly id: string;
  readonly ok: boolean;
  readonly problem: VerifyProblem | null;
  /** What to check; null when all is well. */
  readonly message: string | null;
  /** What the vendor said; null when all is well. */
  readonly vendor: {
    readonly status: number | null;
    readonly code: string | null;
    readonly message: string | null;
  } | null;
  /** The vendor's id of the call, for its support. */
  readonly request_id: string | null;
  /** How far the vendor's clock is ahead of ours; null within one minute. */
  readonly clock_skew_ms: number | null;
}

/**
 * The upstreams of media, for operators (see `MediaUpstreamRegistry`). A removed one is deleted once its running work has ended.
 */
@Injectable()
export class MediaUpstreamsService extends ManagedUpstreams<MediaUpstreamRow, StoredMediaEntry> {
  constructor(
    database: Database,
    changes: AuditedChanges,
    sealer: SecretSealer,
    private readonly registry: MediaUpstreamRegistry,
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

  /**
   * Makes one call that is free and needs the key, also at an upstream that is switched off. Takes 15 s at most.
   *
   * @throws GatewayError `not_found`; `conflict`: its settings cannot be used.
   */
  async verify(id: string, signal: AbortSignal): Promise<UpstreamProof> {
    const { problem } = await this.read(id);
    const routed = this.registry.upstreams.byId(id);
    if (routed) return proofOf(routed.upstream, signal);
    const message = `The upstream "${id}" cannot be called: ${problem ?? 'its settings cannot be used.'}`;
    throw new GatewayError('conflict', message, { param: 'upstream_id' });
  }
}

async function proofOf(upstream: MediaUpstream, signal: AbortSignal): Promise<UpstreamProof> {
  let facts: CallFacts = {};
  const note = (noted: CallFacts): void => void (facts = { ...facts, ...noted });
  const verified = await upstream.verify({ signal, note });
  const { requestId = null, clockSkewMs = null } = facts;
  const known = { id: upstream.id, request_id: requestId, clock_skew_ms: clockSkewMs };
  if (verified.ok) return { ...known, ok: true, problem: null, message: null, vendor: null };
  const { status = null, code = null, message = null } = verified.vendor ?? {};
  const { problem } = verified;
  return { ...known, ok: false, problem, message: VERIFY_REMEDIES[problem], vendor: { status, code, message } };
}

/** A protocol has an address of its own, so that another protocol is another server. */
function movedBy(before: MediaUpstreamRow, entry: StoredMediaEntry): string | undefined {
  const origin = (url: string | null | undefined): string => (url ? new URL(url).origin : '');
  const isSame = before.protocol === entry.protocol && origin(before.base_url) === origin(entry.base_url);
  return isSame ? undefined : 'the upstream';
}
