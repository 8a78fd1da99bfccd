import { Injectable } from '@nestjs/common';
import { type FieldError, GatewayError, type JsonObject } from '#contracts';
import { Database, logger, SecretSealer, type StatementRunner } from '#platform';
import { checkUpstream, fieldName, type UpstreamMistake } from '#providers';
import {
  openUpstreamKey,
  sealUpstreamKey,
  settingsOf,
  StoredUpstreamEntry,
  UPSTREAM_COLUMNS,
  type UpstreamRow,
} from '../stored-upstream.js';
import { UpstreamRegistry } from '../upstream-registry.js';
import { AuditedChanges, type Operator } from '../../accounts/audit.js';
import { mergePatch } from '../../accounts/merge-patch.js';
import { type UpstreamView, viewOfEntry, viewOfRow } from './upstream-view.js';

const log = logger('upstreams');

const LIST = `select ${UPSTREAM_COLUMNS} from upstream order by id`;
const READ = `select ${UPSTREAM_COLUMNS} from upstream where id = $1`;
const LOCK = `${READ} for update`;
const ADD = `
insert into upstream (id, protocol, base_url, models, weight, priority, timeouts, output_limit_field, enabled, api_key_sealed,
  allow, fetches_urls, model_limits)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) on conflict (id) do nothing returning ${UPSTREAM_COLUMNS}`;
const CHANGE = `
update upstream set protocol = $2, base_url = $3, models = $4, weight = $5, priority = $6, timeouts = $7,
  output_limit_field = $8, enabled = $9, api_key_sealed = $10, allow = $11, fetches_urls = $12, model_limits = $13, updated_at = now()
where id = $1 returning ${UPSTREAM_COLUMNS}`;
const REMOVE = 'delete from upstream where id = $1';

/**
 * The upstreams of text models, for operators. Those of UPSTREAMS_FILE are shown and can only be changed there; the
 * others live in the database. A change reaches every replica within seconds (see `UpstreamRegistry`).
 */
@Injectable()
export class UpstreamsService {
  constructor(
    private readonly database: Database,
    private readonly changes: AuditedChanges,
    private readonly sealer: SecretSealer,
    private readonly roster: UpstreamRegistry,
  ) {}

  /** All of them, by id; those of the file first. */
  async list(): Promise<UpstreamView[]> {
    await this.follow();
    const { rows } = await this.database.query<UpstreamRow>({ text: LIST });
    return [...this.roster.fromFile.map(viewOfEntry), ...rows.map((row) => this.viewOf(row))];
  }

  /** The one in service where the file and the database both name it. @throws GatewayError `not_found`. */
  async read(id: string): Promise<UpstreamView> {
    const entry = this.roster.fromFile.find((upstream) => upstream.id === id);
    if (entry) return viewOfEntry(entry);
    await this.follow();
    return this.viewOf(one((await this.database.query<UpstreamRow>({ text: READ, values: [id] })).rows, id));
  }

  /** @throws GatewayError `invalid_parameter` or `unknown_parameter` with every wrong field; `conflict`: the id is taken. */
  async create(operator: Operator, sent: JsonObject): Promise<UpstreamView> {
    const entry = checked(sent);
    this.expectNotOfFile(entry.id);
    const sealed = entry.key === undefined ? null : sealUpstreamKey(this.sealer, entry.id, entry.key);
    const row = await this.changes.runStatements(operator, async (transaction) => {
      const added = await transaction.query<UpstreamRow>({ text: ADD, values: valuesOf(entry, sealed) });
      const [result] = added.rows;
      if (!result) throw new GatewayError('conflict', `There is an upstream "${entry.id}" already.`, { param: 'id' });
      return { result, change: changeOf('upstream.created', null, result) };
    });
    return this.followed(row);
  }

  /**
   * Applies a JSON merge patch: `null` takes a field back to its default or removes it, `models`, `timeouts` and
   * `allow` are merged.
   *
   * @throws GatewayError as `create`; `not_found`; `missing_parameter`: the key, when another server is to get it.
   */
  async update(operator: Operator, id: string, patch: JsonObject): Promise<UpstreamView> {
    this.expectNotOfFile(id);
    if ('id' in patch && patch['id'] !== id)
      throw new GatewayError('invalid_parameter', 'id cannot be changed: create another upstream.', { param: 'id' });
    const row = await this.changes.runStatements(operator, async (transaction) => {
      const before = await lock(transaction, id);
      const entry = checked(mergePatch(settingsOf(before), patch));
      expectKeyStays(before, entry, patch);
      const sealed = 'key' in patch ? this.sealed(id, entry.key) : before.api_key_sealed;
      const changed = await transaction.query<UpstreamRow>({ text: CHANGE, values: valuesOf(entry, sealed) });
      const after = one(changed.rows, id);
      return { result: after, change: changeOf('upstream.updated', before, after) };
    });
    return this.followed(row);
  }

  /** @throws GatewayError `not_found`; `conflict`: it stands in the file. */
  async remove(operator: Operator, id: string): Promise<void> {
    await this.changes.runStatements(operator, async (transaction) => {
      const before = await lock(transaction, id).catch((error: unknown) => {
        // A row that the file hides can be removed; an upstream that only the file has cannot.
        this.expectNotOfFile(id);
        throw error;
      });
      await transaction.query({ text: REMOVE, values: [id] });
      return { result: undefined, change: changeOf('upstream.deleted', before, null) };
    });
    await this.follow();
  }

  private sealed(id: string, key: string | undefined): Buffer | null {
    return key === undefined ? null : sealUpstreamKey(this.sealer, id, key);
  }

  private expectNotOfFile(id: string): void {
    if (this.roster.fromFile.some((entry) => entry.id === id)) {
      throw new GatewayError('conflict', `The upstream "${id}" stands in UPSTREAMS_FILE: change it there.`, {
        param: 'id',
      });
    }
  }

  private async followed(row: UpstreamRow): Promise<UpstreamView> {
    await this.follow();
    return this.viewOf(row);
  }

  /** This replica at once; what fails here is tried again within a second, as at every other replica. */
  private async follow(): Promise<void> {
    await this.roster.refresh().catch((error: unknown) => log.warn('upstreams.not_followed', { error }));
  }

  private viewOf(row: UpstreamRow): UpstreamView {
    const problem = this.roster.problemOf(row.id);
    try {
      return viewOfRow(row, openUpstreamKey(this.sealer, row), problem);
    } catch {
      return viewOfRow(row, undefined, problem);
    }
  }
}

/** @throws GatewayError with every wrong field. */
function checked(sent: JsonObject): StoredUpstreamEntry {
  const { checked: entry, mistakes } = checkUpstream(StoredUpstreamEntry, sent);
  const [first, ...rest] = mistakes.map(fieldErrorOf);
  if (first) throw GatewayError.fromFields([first, ...rest]);
  return entry;
}

function fieldErrorOf({ path, rule, isUnknown = false }: UpstreamMistake): FieldError {
  const param = fieldName(path);
  if (isUnknown) return { param, code: 'unknown_parameter', message: `${param} is not a field of an upstream.` };
  return { param, code: 'invalid_parameter', message: `${param} ${rule}.` };
}

/**
 * A key that is set can be replaced but not learned: whoever could send it to another server would have it.
 *
 * @throws GatewayError `missing_parameter`.
 */
function expectKeyStays(
  { api_key_sealed, base_url }: UpstreamRow,
  entry: StoredUpstreamEntry,
  patch: JsonObject,
): void {
  if (api_key_sealed === null || 'key' in patch || entry.protocol === 'sandbox') return;
  if (base_url !== null && new URL(entry.base_url).origin === new URL(base_url).origin) return;
  throw new GatewayError(
    'missing_parameter',
    'key must be sent again, or null, when base_url moves to another server: the key that is set stays with the old one.',
    { param: 'key' },
  );
}

async function lock(transaction: StatementRunner, id: string): Promise<UpstreamRow> {
  return one((await transaction.query<UpstreamRow>({ text: LOCK, values: [id] })).rows, id);
}

function one([row]: readonly UpstreamRow[], id: string): UpstreamRow {
  if (row) return row;
  throw new GatewayError('not_found', `There is no upstream "${id.slice(0, 64)}".`, { param: 'upstream_id' });
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
];

/** What the audit may hold: that there is a key and that it was changed, never the key. */
function changeOf(action: string, before: UpstreamRow | null, after: UpstreamRow | null) {
  const recorded = (row: UpstreamRow): object => ({ ...settingsOf(row), key_set: row.api_key_sealed !== null });
  const isSameKey = before?.api_key_sealed?.toString('hex') === after?.api_key_sealed?.toString('hex');
  return {
    action,
    subjectType: 'upstream' as const,
    subjectId: (after ?? before)?.id ?? '',
    before: before && recorded(before),
    after: after && { ...recorded(after), key_changed: !isSameKey },
  };
}
