import { type FieldError, GatewayError, type JsonObject, STORABLE_RULE, unstorableField } from '#contracts';
import { type Database, logger, type SecretSealer, type StatementRunner } from '#platform';
import { fieldName, type UpstreamMistake } from '#providers';
import type { AuditedChanges, Operator } from '../audit/audit.js';
import { mergePatch } from './merge-patch.js';
import { type ManagedRow, openUpstreamKey, sealUpstreamKey } from './upstream-row.js';
import { type FileEntry, type UpstreamView, viewOfEntry, viewOfRow } from './upstream-view.js';

const log = logger('upstreams');

/** Statements on the rows of one kind. All but `remove` answer rows. */
interface Statements {
  readonly list: string;
  /** $1 id. */
  readonly read: string;
  /** The values of an entry. No row: the id is taken. */
  readonly add: string;
  /** The values of an entry. */
  readonly change: string;
  /** $1 id. */
  readonly remove: string;
}

/** What the settings of one kind of upstream are, and where they are kept. */
export interface UpstreamKind<Row extends ManagedRow, Entry extends FileEntry> {
  /** Shown beside the settings, such as `kind`. */
  readonly shown: JsonObject;
  /** In a sentence: `an upstream`. */
  readonly name: string;
  readonly statements: Statements;
  /** Settings as an operator sent them, the key left out. */
  settingsOf(row: Row): JsonObject;
  check(sent: JsonObject): { readonly checked: Entry; readonly mistakes: readonly UpstreamMistake[] };
  valuesOf(entry: Entry, sealedKey: Buffer | null): unknown[];
  /** What moves in the refusal to send a key that is set to another server; undefined while it stays where it is. */
  movedBy(before: Row, entry: Entry): string | undefined;
}

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
export class ManagedUpstreams<Row extends ManagedRow, Entry extends FileEntry> {
  constructor(
    private readonly kind: UpstreamKind<Row, Entry>,
    private readonly database: Database,
    private readonly changes: AuditedChanges,
    private readonly sealer: SecretSealer,
    private readonly followed: Followed,
  ) {}

  /** All of them, by id; those of the file first. */
  async list(): Promise<UpstreamView[]> {
    await this.follow();
    const { rows } = await this.database.query<Row>({ text: this.kind.statements.list });
    return [...this.followed.fromFile.map((entry) => this.viewOfFile(entry)), ...rows.map((row) => this.viewOf(row))];
  }

  /** The one in service where the file and the database both name it; undefined: there is none of that id. */
  async find(id: string): Promise<UpstreamView | undefined> {
    const entry = this.followed.fromFile.find((upstream) => upstream.id === id);
    if (entry) return this.viewOfFile(entry);
    await this.follow();
    const { rows } = await this.database.query<Row>({ text: this.kind.statements.read, values: [id] });
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
    const values = this.kind.valuesOf(entry, this.sealed(entry));
    const row = await this.changes.runStatements(operator, async (transaction) => {
      const [result] = (await transaction.query<Row>({ text: this.kind.statements.add, values })).rows;
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
      throw new GatewayError('invalid_parameter', 'id cannot be changed: create another upstream.', { param: 'id' });
    const row = await this.changes.runStatements(operator, async (transaction) => {
      const before = await this.lock(transaction, id);
      const values = this.changedValues(before, patch);
      const after = one((await transaction.query<Row>({ text: this.kind.statements.change, values })).rows, id);
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
      await transaction.query({ text: this.kind.statements.remove, values: [id] });
      return { result: undefined, change: this.changeOf('upstream.deleted', before, null) };
    });
    await this.follow();
  }

  /**
   * A key that is set can be replaced but not read: otherwise an operator could send it to a server of their own.
   *
   * @throws GatewayError as `update`.
   */
  private changedValues(before: Row, patch: JsonObject): unknown[] {
    const keyIsKept = !('key' in patch) && before.api_key_sealed !== null;
    const key = keyIsKept ? this.keyOf(before) : undefined;
    // A key can be part of what is checked, so the one that stays is there too.
    const entry = this.checked(
      mergePatch({ ...this.kind.settingsOf(before), ...(key !== undefined && { key }) }, patch),
    );
    const moved = keyIsKept ? this.kind.movedBy(before, entry) : undefined;
    if (moved === undefined) return this.kind.valuesOf(entry, keyIsKept ? before.api_key_sealed : this.sealed(entry));
    const message = `key must be sent again, or null, when ${moved} moves to another server: the key that is set stays with the old one.`;
    throw new GatewayError('missing_parameter', message, { param: 'key' });
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
    const text = `${this.kind.statements.read} for update`;
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
    return {
      action,
      subjectType: 'upstream' as const,
      subjectId: (after ?? before)?.id ?? '',
      before: before && recorded(before),
      after: after && { ...recorded(after), key_changed: !isSameKey },
    };
  }
}

function one<Found>([found]: readonly Found[], id: string): Found {
  if (found) return found;
  throw new GatewayError('not_found', `There is no upstream "${id.slice(0, 64)}".`, { param: 'upstream_id' });
}
