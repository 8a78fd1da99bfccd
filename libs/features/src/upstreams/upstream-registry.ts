import { Inject, Injectable } from '@nestjs/common';
import { Database, logger, PeriodicTask, SecretSealer } from '#platform';
import {
  accessFingerprint,
  checkUpstream,
  fieldName,
  type OpenTextProvider,
  type OpenTextProviders,
  type UpstreamEntry,
} from '#providers';
import { SANDBOX_MAY_SELL } from '#runtime';
import { openUpstreamKey, REVISION } from './upstream-row.js';
import { settingsOf, StoredUpstreamEntry, UPSTREAM_COLUMNS, type UpstreamRow } from './stored-upstream.js';
import { type TextUpstream, TextUpstreams } from './text-upstreams.js';
import { OPEN_PROVIDERS } from './text-tokens.js';

const log = logger('upstreams');

/** How often the database is asked for changes, in milliseconds: with reading them, the longest until all replicas follow. */
const RELOAD_EVERY_MS = 1_000;

const REVISIONS = `select id, ${REVISION} as revision from upstream where kind = 'text'`;
const READ = `select ${UPSTREAM_COLUMNS} from upstream where kind = 'text' and id = any($1)`;

type OpenUpstream = OpenTextProvider & TextUpstream;

/** The result of loading one row. */
interface Stored {
  readonly revision: string;
  /** Absent when it is not in service. */
  readonly open?: OpenUpstream;
  /** Why it cannot be in service although it should. */
  readonly problem?: string;
}

/**
 * Keeps the upstreams of this process equal to UPSTREAMS_FILE and the table `upstream` together, so that a change by an
 * operator reaches every replica without a restart. The file wins where both name an id. The sandbox writes only where
 * neither names any upstream; a disabled one is one too, so that switching the last one off never sells sandbox text.
 */
@Injectable()
export class UpstreamRegistry {
  readonly #file: ReadonlyMap<string, OpenUpstream>;
  readonly #stored = new Map<string, Stored>();
  readonly #retiring = new Set<OpenUpstream>();
  readonly #reloading = new PeriodicTask('upstreams', RELOAD_EVERY_MS, async () => {
    await this.refresh();
    return false;
  });
  #refreshing: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly sealer: SecretSealer,
    @Inject(OPEN_PROVIDERS) private readonly providers: OpenTextProviders,
    private readonly upstreams: TextUpstreams,
    /** Whether what the sandbox writes may be sold. */
    @Inject(SANDBOX_MAY_SELL) private readonly sandboxMaySell = true,
  ) {
    const entries = providers.fromFile ?? [];
    // Failures of an earlier key or address say nothing about this one.
    const healthName = ({ id, key, base_url: url }: UpstreamEntry): string => `${id}@${accessFingerprint(key, url)}`;
    this.#file = new Map(
      entries.map((entry) => [entry.id, { ...providers.open(entry), healthName: healthName(entry) }]),
    );
  }

  /** The entries of UPSTREAMS_FILE. */
  get fromFile(): readonly UpstreamEntry[] {
    return this.providers.fromFile ?? [];
  }

  /** Reads the table and keeps watching it. @throws what the database says when it cannot be read. */
  async start(): Promise<void> {
    await this.refresh();
    this.#publish();
    this.#reloading.start();
  }

  /** Takes over what has changed. Running requests keep the upstream they have. */
  refresh(): Promise<void> {
    const refreshed = this.#refreshing.then(() => this.#refresh());
    this.#refreshing = refreshed.catch(() => undefined);
    return refreshed;
  }

  /** Why a stored upstream that is enabled is not in service; undefined when it is. */
  problemOf(id: string): string | undefined {
    return this.#stored.get(id)?.problem;
  }

  /** Closes every connection, also those that still work. */
  async close(): Promise<void> {
    await this.#reloading.stop();
    const stored = [...this.#stored.values()].flatMap(({ open }) => open ?? []);
    await Promise.all([...this.#file.values(), ...stored, ...this.#retiring].map((upstream) => upstream.close()));
  }

  async #refresh(): Promise<void> {
    const { rows } = await this.database.query<Pick<UpstreamRow, 'id' | 'revision'>>({
      name: 'upstream_revisions',
      text: REVISIONS,
    });
    const changed = rows.filter(({ id, revision }) => this.#stored.get(id)?.revision !== revision).map(({ id }) => id);
    const there = new Set(rows.map(({ id }) => id));
    const removed = [...this.#stored.keys()].filter((id) => !there.has(id));
    if (changed.length === 0 && removed.length === 0) return;
    const read = changed.length === 0 ? [] : await this.#read(changed);
    const replaced = [...changed, ...removed].flatMap((id) => this.#stored.get(id)?.open ?? []);
    for (const id of removed) this.#stored.delete(id);
    for (const row of read) this.#stored.set(row.id, this.#take(row));
    this.#publish();
    for (const upstream of replaced) this.#retire(upstream);
    log.info('upstreams.changed', { changed, removed });
  }

  async #read(ids: readonly string[]): Promise<readonly UpstreamRow[]> {
    return (await this.database.query<UpstreamRow>({ text: READ, values: [ids] })).rows;
  }

  #take(row: UpstreamRow): Stored {
    const { id, revision } = row;
    if (!row.enabled) return { revision };
    const problem = this.#file.has(id)
      ? 'UPSTREAMS_FILE has an upstream of this id, which is used instead.'
      : undefined;
    const read = problem === undefined ? this.#entryOf(row) : problem;
    if (typeof read !== 'string') {
      return { revision, open: { ...this.providers.open(read), healthName: `${id}@${revision}` } };
    }
    log.error('upstream.unusable', { upstream: id, problem: read });
    return { revision, problem: read };
  }

  /** The entry, or what is wrong with it: rows may be written by hand, and KEY_PEPPER may have changed. */
  #entryOf(row: UpstreamRow): UpstreamEntry | string {
    try {
      const key = openUpstreamKey(this.sealer, row);
      const settings = { ...settingsOf(row), ...(key === undefined ? {} : { key }) };
      const { checked, mistakes } = checkUpstream(StoredUpstreamEntry, settings);
      if (mistakes.length === 0) return checked;
      return `${mistakes.map(({ path, rule }) => `${fieldName(path)} ${rule}`).join('; ')}.`;
    } catch {
      return 'Its key was sealed under another KEY_PEPPER: set the key again.';
    }
  }

  #publish(): void {
    const open = [
      ...this.#file.values(),
      ...[...this.#stored.values()].flatMap(({ open: upstream }) => upstream ?? []),
    ];
    const isConfigured = this.providers.fromFile !== undefined || this.#stored.size > 0;
    if (isConfigured) this.upstreams.exchange(open);
    else if (this.sandboxMaySell)
      this.upstreams.exchange([{ ...this.providers.sandbox, healthName: 'sandbox' }], 'writes');
    else this.upstreams.exchange([], 'barred');
  }

  #retire(upstream: OpenUpstream): void {
    this.#retiring.add(upstream);
    void upstream
      .retire()
      .catch((error: unknown) => log.warn('upstream.not_closed', { upstream: upstream.provider.id, error }))
      .finally(() => this.#retiring.delete(upstream));
  }
}
