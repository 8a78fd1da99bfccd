import { Inject, Injectable } from '@nestjs/common';
import {
  type AdminUpstream,
  type AdminUpstreamProof,
  type CallFacts,
  type FieldError,
  GatewayError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  STORABLE_RULE,
  unstorableField,
  type Verified,
} from '#contracts';
import { Database, logger, SecretSealer, type StatementRunner } from '#platform';
import { fieldName, type UpstreamMistake, VERIFY_REMEDIES } from '#providers';
import { PLATFORM, type Platform } from '#runtime';
import { AuditedChanges, changeOf, type Operator } from '../audit/audit.js';
import type { RoutedUpstream } from './media-upstreams.js';
import { mediaKind, type MediaUpstreamRow, type StoredMediaEntry } from './media-kind.js';
import { type StoredTextEntry, TEXT_KIND, type TextUpstreamRow } from './text-kind.js';
import {
  openUpstreamKey,
  sealUpstreamKey,
  statementsOf,
  type UpstreamKind,
  type UpstreamRow,
} from './upstream-kind.js';
import { MediaUpstreamRegistry, TextUpstreamRegistry } from './upstream-registry.js';

const log = logger('upstreams');

/** An upstream as operators see it: its settings in the words of UPSTREAMS_FILE, but never its key. */
export type UpstreamView = Omit<AdminUpstream, 'kind' | 'enabled' | 'health'>;

const SHOWN_CHARACTERS = 4;
/** Of a shorter key the end would reveal too much. */
const KEY_LENGTH_MIN = 16;

/** The last characters of a key that is long enough to show some. */
const keyEnd = (key: string | undefined): string | null =>
  key === undefined || key.length < KEY_LENGTH_MIN ? null : key.slice(-SHOWN_CHARACTERS);

/** An upstream of the file, of either kind. */
interface FileEntry {
  readonly id: string;
  readonly key?: string | undefined;
}

function viewOfEntry({ key, ...entry }: FileEntry): UpstreamView {
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
const viewOfRow = (
  row: UpstreamRow,
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
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

/** What keeps the upstreams of this process equal to the file and the table. */
interface Followed {
  readonly fromFile: readonly FileEntry[];
  refresh(): Promise<void>;
  problemOf(id: string): string | undefined;
}

/**
 * The upstreams of one kind, for operators. Those of UPSTREAMS_FILE are shown and can only be changed there; the others live
 * in the database. A change reaches every process within seconds.
 */
export class ManagedUpstreams<Row extends UpstreamRow, Entry extends FileEntry> {
  private readonly statements: ReturnType<typeof statementsOf>;

  constructor(
    private readonly kind: UpstreamKind<Row, Entry>,
    private readonly database: Database,
    private readonly changes: AuditedChanges,
    private readonly sealer: SecretSealer,
    private readonly followed: Followed,
  ) {
    this.statements = statementsOf(kind);
  }

  /** All of them, by id; those of the file first. */
  async list(): Promise<UpstreamView[]> {
    await this.follow();
    const { rows } = await this.database.query<Row>({ text: this.statements.list });
    return [...this.followed.fromFile.map((entry) => this.viewOfFile(entry)), ...rows.map((row) => this.viewOf(row))];
  }

  /** The one in service where the file and the database both name it; undefined: there is none of that id. */
  async find(id: string): Promise<UpstreamView | undefined> {
    const entry = this.followed.fromFile.find((upstream) => upstream.id === id);
    if (entry) return this.viewOfFile(entry);
    await this.follow();
    const { rows } = await this.database.query<Row>({ text: this.statements.read, values: [id] });
    return rows[0] && this.viewOf(rows[0]);
  }

  /** As `find`. @throws GatewayError `not_found`. */
  async read(id: string): Promise<UpstreamView> {
    const found = await this.find(id);
    return one(found ? [found] : [], id);
  }

  /**
   * A field that is `null` has its default.
   *
   * @throws GatewayError `invalid_parameter` or `unknown_parameter` with every wrong field; `conflict`: the id is taken.
   */
  async create(operator: Operator, sent: JsonObject): Promise<UpstreamView> {
    const entry = this.checked(mergePatch({}, sent));
    this.expectNotOfFile(entry.id);
    const values = [...this.kind.valuesOf(entry), this.sealed(entry)];
    const row = await this.changes.runStatements(operator, async (transaction) => {
      const text = `${this.statements.readAll} for update`;
      const [drained] = (await transaction.query<Row>({ text, values: [[entry.id]] })).rows;
      if (drained?.deleted_at) await this.expectMayMove(transaction, drained, entry);
      const [result] = (await transaction.query<Row>({ text: this.statements.add, values })).rows;
      if (!result) throw new GatewayError('conflict', `There is an upstream "${entry.id}" already.`, { param: 'id' });
      return { result, change: this.changeOf('upstream.created', null, result) };
    });
    await this.follow();
    return this.viewOf(row);
  }

  /**
   * Applies a JSON merge patch: `null` takes a field back to its default or removes it, objects are merged.
   *
   * @throws GatewayError as `create`; `not_found`; `missing_parameter`: the key, when another server is to get it.
   */
  async update(operator: Operator, id: string, patch: JsonObject): Promise<UpstreamView> {
    this.expectNotOfFile(id);
    if ('id' in patch && patch['id'] !== id)
      throw GatewayError.ofField('id', 'cannot be changed: create another upstream');
    const row = await this.changes.runStatements(operator, async (transaction) => {
      const before = await this.lock(transaction, id);
      const { entry, values } = this.changed(before, patch);
      await this.expectMayMove(transaction, before, entry);
      const after = one((await transaction.query<Row>({ text: this.statements.change, values })).rows, id);
      return { result: after, change: this.changeOf('upstream.updated', before, after) };
    });
    await this.follow();
    return this.viewOf(row);
  }

  /** What runs on it ends as it would have. @throws GatewayError `not_found`; `conflict`: it stands in the file. */
  async remove(operator: Operator, id: string): Promise<void> {
    await this.changes.runStatements(operator, async (transaction) => {
      const before = await this.lock(transaction, id).catch((error: unknown) => {
        // A row that the file hides can be removed; an upstream that only the file has cannot.
        this.expectNotOfFile(id);
        throw error;
      });
      await transaction.query({ text: this.statements.remove, values: [id] });
      return { result: undefined, change: this.changeOf('upstream.deleted', before, null) };
    });
    await this.follow();
  }

  /**
   * A key that is set can be replaced but not read: otherwise an operator could send it to a server of their own.
   *
   * @throws GatewayError as `update`.
   */
  private changed(before: Row, patch: JsonObject): { readonly entry: Entry; readonly values: readonly unknown[] } {
    const keyIsKept = !('key' in patch) && before.api_key_sealed !== null;
    const key = keyIsKept ? this.keyOf(before) : undefined;
    // A key can be part of what is checked, so the one that stays is there too.
    const entry = this.checked(
      mergePatch({ ...this.kind.settingsOf(before), ...(key !== undefined && { key }) }, patch),
    );
    const moved = keyIsKept ? this.kind.movedBy(before, entry) : undefined;
    if (moved === undefined) {
      const sealed = keyIsKept ? before.api_key_sealed : this.sealed(entry);
      return { entry, values: [...this.kind.valuesOf(entry), sealed] };
    }
    const message = `key must be sent again, or null, when ${moved} moves to another server: the key that is set stays with the old one.`;
    throw new GatewayError('missing_parameter', message, { param: 'key' });
  }

  /** Another server knows nothing of the orders that are at this one. @throws GatewayError `conflict`. */
  private async expectMayMove(transaction: StatementRunner, before: Row, entry: Entry): Promise<void> {
    if (!this.kind.drains || this.kind.movedBy(before, entry) === undefined) return;
    const [work] = (await transaction.query<{ yes: boolean }>({ text: this.statements.atWork, values: [before.id] }))
      .rows;
    if (work?.yes !== true) return;
    const message = `Orders are still at work at the upstream "${before.id}": add another server under an id of its own, and disable this one, which then finishes what it has.`;
    throw new GatewayError('conflict', message, { param: 'id' });
  }

  /** @throws GatewayError with every wrong field. */
  private checked(sent: JsonObject): Entry {
    const unstorable = unstorableField(sent);
    if (unstorable !== undefined)
      throw GatewayError.fromFields([this.fieldErrorOf({ path: [unstorable], rule: STORABLE_RULE })]);
    const { checked, mistakes } = this.kind.check(sent);
    const [first, ...rest] = mistakes.map((mistake) => this.fieldErrorOf(mistake));
    if (first) throw GatewayError.fromFields([first, ...rest]);
    return checked;
  }

  private fieldErrorOf({ path, rule, isUnknown = false }: UpstreamMistake): FieldError {
    const param = fieldName(path);
    const message = isUnknown ? `${param} is not a field of ${this.kind.name}.` : `${param} ${rule}.`;
    return { param, code: isUnknown ? 'unknown_parameter' : 'invalid_parameter', message };
  }

  private sealed({ id, key }: Entry): Buffer | null {
    return key === undefined ? null : sealUpstreamKey(this.sealer, id, key);
  }

  /** Undefined: there is none, or it was sealed under another KEY_PEPPER. */
  private keyOf(row: Row): string | undefined {
    try {
      return openUpstreamKey(this.sealer, row);
    } catch {
      return undefined;
    }
  }

  private expectNotOfFile(id: string): void {
    if (!this.followed.fromFile.some((entry) => entry.id === id)) return;
    const message = `The upstream "${id}" stands in UPSTREAMS_FILE: change it there.`;
    throw new GatewayError('conflict', message, { param: 'id' });
  }

  private async lock(transaction: StatementRunner, id: string): Promise<Row> {
    const text = `${this.statements.read} for update`;
    return one((await transaction.query<Row>({ text, values: [id] })).rows, id);
  }

  /** This process at once; what fails here is tried again within a second, as at every other. */
  private async follow(): Promise<void> {
    await this.followed.refresh().catch((error: unknown) => log.warn('upstreams.not_followed', { error }));
  }

  private viewOfFile(entry: FileEntry): UpstreamView {
    const view = viewOfEntry(entry);
    return { ...view, settings: { ...this.kind.shown, ...view.settings } };
  }

  private viewOf(row: Row): UpstreamView {
    return viewOfRow(row, this.settingsShown(row), this.keyOf(row), this.followed.problemOf(row.id));
  }

  private settingsShown(row: Row): JsonObject {
    return { ...this.kind.shown, ...this.kind.settingsOf(row) };
  }

  /** What the audit may hold: that there is a key and that it was changed, never the key. */
  private changeOf(action: string, before: Row | null, after: Row | null) {
    const recorded = (row: Row): object => ({ ...this.settingsShown(row), key_set: row.api_key_sealed !== null });
    const isSameKey = before?.api_key_sealed?.toString('hex') === after?.api_key_sealed?.toString('hex');
    const shown = after && { ...recorded(after), key_changed: !isSameKey };
    return changeOf('upstream', action, (after ?? before)?.id ?? '', before && recorded(before), shown);
  }
}

function one<Found>([found]: readonly Found[], id: string): Found {
  if (found) return found;
  throw new GatewayError('not_found', `There is no upstream "${id.slice(0, 64)}".`, { param: 'upstream_id' });
}

/** Applies a JSON merge patch (RFC 7396): objects are merged field by field, null takes a field away, all else replaces. */
function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged = new Map<string, JsonValue>(Object.entries(target));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, isJsonObject(value) ? mergePatch(objectOr(merged.get(name)), value) : value);
  }
  return Object.fromEntries(merged);
}

const objectOr = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});

/** The upstreams of text models, for operators (see `TextUpstreamRegistry`). */
@Injectable()
export class TextUpstreamsService extends ManagedUpstreams<TextUpstreamRow, StoredTextEntry> {
  constructor(database: Database, changes: AuditedChanges, sealer: SecretSealer, registry: TextUpstreamRegistry) {
    super(TEXT_KIND, database, changes, sealer, registry);
  }
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
    super(mediaKind(reach), database, changes, sealer, registry);
  }

  /**
   * Makes one call that is free and needs the key, also at an upstream that is switched off. Takes 15 s at most.
   *
   * @throws GatewayError `not_found`; `conflict`: its settings cannot be used.
   */
  async verify(id: string, signal: AbortSignal): Promise<AdminUpstreamProof> {
    const { problem } = await this.read(id);
    const routed = this.registry.upstreams.byId(id);
    if (routed) return mediaProof(routed, signal);
    const message = `The upstream "${id}" cannot be called: ${problem ?? 'its settings cannot be used.'}`;
    throw new GatewayError('conflict', message, { param: 'upstream_id' });
  }
}

async function mediaProof({ upstream, models }: RoutedUpstream, signal: AbortSignal): Promise<AdminUpstreamProof> {
  let facts: CallFacts = {};
  const note = (noted: CallFacts): void => void (facts = { ...facts, ...noted });
  const verified = await upstream.verify({ signal, note });
  const traits = Object.fromEntries(
    [...(models ?? [])].flatMap((model) => {
      const held = upstream.traitsOf?.(model) ?? [];
      return held.length > 0 ? [[model, held] as const] : [];
    }),
  );
  return proofOf(upstream.id, verified, facts, traits);
}

/** What a call to an upstream proved, in the words of the admin API. */
export function proofOf(
  id: string,
  verified: Verified,
  facts: CallFacts,
  traits: AdminUpstreamProof['traits'],
): AdminUpstreamProof {
  const { requestId = null, clockSkewMs = null } = facts;
  const known = { id, request_id: requestId, clock_skew_ms: clockSkewMs, traits };
  if (verified.ok) return { ...known, ok: true, problem: null, message: verified.note ?? null, vendor: null };
  const { status = null, code = null, message = null } = verified.vendor ?? {};
  const { problem } = verified;
  return { ...known, ok: false, problem, message: VERIFY_REMEDIES[problem], vendor: { status, code, message } };
}
