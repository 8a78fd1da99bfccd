import { Inject, Injectable } from '@nestjs/common';
import { Database, logger, PeriodicTask, SecretSealer } from '#platform';
import {
  checkMediaUpstream,
  type ConfiguredMediaUpstream,
  fieldName,
  type MediaUpstreamEntry,
  type OpenMediaUpstreams,
} from '#providers';
import { SANDBOX_MAY_SELL } from '#runtime';
import { REVISION } from './upstream-row.js';
import { MediaUpstreams, type RoutedUpstream } from './media-upstreams.js';
import { MEDIA_COLUMNS, mediaEntryOf, type MediaUpstreamRow, StoredMediaEntry } from './stored-media-upstream.js';

const log = logger('upstreams');

/** Injects the OpenMediaUpstreams. */
export const OPEN_MEDIA_UPSTREAMS = Symbol('OpenMediaUpstreams');

/** How often the database is asked for changes, in milliseconds: with reading them, the longest until all replicas follow. */
const RELOAD_EVERY_MS = 1_000;
/** How long calls under way may continue over connections that were replaced, in milliseconds. */
const REPLACED_MS = 600_000;

const REVISIONS = `select id, ${REVISION} as revision from upstream where kind = 'media'`;
const READ = `select ${MEDIA_COLUMNS} from upstream where kind = 'media' and id = any($1)`;
/**
 * What was removed goes when nothing names it any more, and what was accepted before waits no more: the sandbox may stand in
 * when the last one is gone, but never for orders that were sold for it. Not at once, for other processes hand it orders
 * until they look.
 */
const FORGET_REMOVED = `
delete from upstream u where u.kind = 'media' and u.deleted_at < now() - interval '1 minute'
  and not exists (select from task t where t.provider = u.id and t.state in ('submitting', 'running'))
  and not exists (select from task t where t.provider = u.id and t.state = 'storing')
  and not exists (select from task t where t.state = 'queued' and t.created_at <= u.deleted_at)`;

/** The result of loading one row. */
interface Stored {
  readonly revision: string;
  readonly isRemoved: boolean;
  /** Absent when its settings cannot be used. */
  readonly routed?: RoutedUpstream;
  /** Why it cannot be in service although it should. */
  readonly problem?: string;
}

/**
 * Keeps the media upstreams of this process equal to UPSTREAMS_FILE and the table `upstream` together, so that a change by
 * an operator reaches every process without a restart. The file wins where both name an id. One that is switched off or
 * removed drains: it gets nothing new, and is asked on about what it has. The sandbox makes media only where neither names
 * any upstream; a disabled one is one too, so that switching the last one off never sells test images.
 */
@Injectable()
export class MediaUpstreamRegistry {
  private readonly file: ReadonlyMap<string, RoutedUpstream>;
  private readonly stored = new Map<string, Stored>();
  private readonly replaced = new Map<RoutedUpstream, NodeJS.Timeout>();
  private readonly reloading = new PeriodicTask('media-upstreams', RELOAD_EVERY_MS, async () => {
    await this.refresh();
    return false;
  });
  private refreshing: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly sealer: SecretSealer,
    @Inject(OPEN_MEDIA_UPSTREAMS) private readonly providers: OpenMediaUpstreams,
    /** Whether what the sandbox makes may be sold; a process that only works on tasks makes what was sold. */
    @Inject(SANDBOX_MAY_SELL) private readonly sandboxMaySell = true,
    /** What it keeps equal. */
    readonly upstreams: MediaUpstreams = new MediaUpstreams(),
  ) {
    this.file = new Map((providers.fromFile ?? []).map((entry) => [entry.id, providers.open(entry)]));
  }

  /** The entries of UPSTREAMS_FILE. */
  get fromFile(): readonly MediaUpstreamEntry[] {
    return this.providers.fromFile ?? [];
  }

  /** Reads the table and keeps watching it. @throws what the database says when it cannot be read. */
  async start(): Promise<void> {
    await this.refresh();
    this.publish();
    this.reloading.start();
  }

  /** Takes over what has changed. Calls under way keep the upstream that they have. */
  refresh(): Promise<void> {
    const refreshed = this.refreshing.then(() => this.takeOver());
    this.refreshing = refreshed.catch(() => undefined);
    return refreshed;
  }

  /** Why a stored upstream that is enabled is not in service; undefined when it is. */
  problemOf(id: string): string | undefined {
    return this.stored.get(id)?.problem;
  }

  /** Closes every connection, when the calls on it are done. The sandbox is closed by its opener. */
  async close(): Promise<void> {
    await this.reloading.stop();
    for (const timer of this.replaced.values()) clearTimeout(timer);
    const stored = [...this.stored.values()].flatMap(({ routed }) => routed ?? []);
    const all = [...this.file.values(), ...stored, ...this.replaced.keys()];
    await Promise.all(all.map(({ upstream }) => upstream.close()));
  }

  private async takeOver(): Promise<void> {
    if ([...this.stored.values()].some(({ isRemoved }) => isRemoved))
      await this.database.query({ text: FORGET_REMOVED });
    const { rows } = await this.database.query<Pick<MediaUpstreamRow, 'id' | 'revision'>>({
      name: 'media_upstream_revisions',
      text: REVISIONS,
    });
    const changed = rows.filter(({ id, revision }) => this.stored.get(id)?.revision !== revision).map(({ id }) => id);
    const there = new Set(rows.map(({ id }) => id));
    const gone = [...this.stored.keys()].filter((id) => !there.has(id));
    if (changed.length === 0 && gone.length === 0) return;
    const read = changed.length === 0 ? [] : await this.read(changed);
    const replaced = [...changed, ...gone].flatMap((id) => this.stored.get(id)?.routed ?? []);
    for (const id of gone) this.stored.delete(id);
    for (const row of read) this.stored.set(row.id, this.take(row));
    this.publish();
    for (const routed of replaced) this.closeLater(routed);
    log.info('upstreams.changed', { kind: 'media', changed, removed: gone });
  }

  private async read(ids: readonly string[]): Promise<readonly MediaUpstreamRow[]> {
    return (await this.database.query<MediaUpstreamRow>({ text: READ, values: [ids] })).rows;
  }

  private take(row: MediaUpstreamRow): Stored {
    const { id, revision, enabled } = row;
    const isRemoved = row.deleted_at !== null;
    const entry = this.file.has(id)
      ? 'UPSTREAMS_FILE has an upstream of this id, which is used instead.'
      : this.entryOf(row);
    if (typeof entry !== 'string') {
      const open: ConfiguredMediaUpstream = this.providers.open(entry);
      return { revision, isRemoved, routed: { ...open, isDraining: !enabled || isRemoved } };
    }
    log.error('upstream.unusable', { upstream: id, problem: entry });
    return { revision, isRemoved, ...(enabled && { problem: entry }) };
  }

  /** The entry, or what is wrong with it: rows may be written by hand, and KEY_PEPPER may have changed. */
  private entryOf(row: MediaUpstreamRow): MediaUpstreamEntry | string {
    try {
      const { checked, mistakes } = checkMediaUpstream(StoredMediaEntry, mediaEntryOf(this.sealer, row));
      if (mistakes.length === 0) return checked;
      return `${mistakes.map(({ path, rule }) => `${fieldName(path)} ${rule}`).join('; ')}.`;
    } catch {
      return 'Its key was sealed under another KEY_PEPPER: set the key again.';
    }
  }

  private publish(): void {
    const stored = [...this.stored.values()].flatMap(({ routed }) => routed ?? []);
    const configured = [...this.file.values(), ...stored];
    const { sandbox } = this.providers;
    if (this.providers.fromFile !== undefined || this.stored.size > 0) {
      // What the sandbox began before is asked for to its end.
      const isNamed = configured.some(({ upstream }) => upstream.id === sandbox.upstream.id);
      this.upstreams.exchange(isNamed ? configured : [...configured, { ...sandbox, isDraining: true }]);
    } else if (this.sandboxMaySell) this.upstreams.exchange([{ ...sandbox, standsIn: true }], 'makes');
    else this.upstreams.exchange([], 'barred');
  }

  private closeLater(routed: RoutedUpstream): void {
    const timer = setTimeout(() => {
      this.replaced.delete(routed);
      routed.upstream
        .close()
        .catch((error: unknown) => log.warn('upstream.not_closed', { upstream: routed.upstream.id, error }));
    }, REPLACED_MS);
    this.replaced.set(routed, timer.unref());
  }
}
