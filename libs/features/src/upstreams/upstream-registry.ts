import { Inject, Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Database, logger, PeriodicTask, SecretSealer } from '#platform';
import {
  accessFingerprint,
  type MediaUpstreamEntry,
  type OpenMediaUpstreams,
  type OpenTextUpstream,
  type OpenTextUpstreams,
  type UpstreamEntry,
} from '#providers';
import { SANDBOX_MAY_SELL } from '#runtime';
import { mediaKind, type MediaUpstreamRow, type StoredMediaEntry } from './media-kind.js';
import { MediaUpstreams, type RoutedUpstream } from './media-upstreams.js';
import { type StoredTextEntry, TEXT_KIND, type TextUpstreamRow } from './text-kind.js';
import { type TextUpstream, TextUpstreams } from './text-upstreams.js';
import type { SandboxPart } from './upstream-choice.js';
import { atWork, entryOf, statementsOf, type UpstreamKind, type UpstreamRow } from './upstream-kind.js';

const log = logger('upstreams');

export const OPEN_TEXT_UPSTREAMS = Symbol('OpenTextUpstreams');
export const OPEN_MEDIA_UPSTREAMS = Symbol('OpenMediaUpstreams');

/** How often the database is asked for changes, in milliseconds: with reading them, the longest until all replicas follow. */
const RELOAD_EVERY_MS = 1_000;

/** How the upstreams of one kind are opened, put in service and closed. */
interface Following<Row extends UpstreamRow, Entry, Open> {
  readonly kind: UpstreamKind<Row, Entry>;
  /** Those of UPSTREAMS_FILE, opened, by id; undefined when it names none of the kind. */
  readonly fromFile: ReadonlyMap<string, Open> | undefined;
  /** Undefined: one that is switched off or removed takes part in nothing. */
  open(entry: Entry, row: Row): Open | undefined;
  /** Puts these in place of all there were. `sandbox`: its part where nothing is configured; inactive once anything is. */
  exchange(upstreams: readonly Open[], sandbox: SandboxPart): void;
  /** Closes a replaced one when the calls on it are done; before that when `closing` aborts. */
  retire(upstream: Open, closing: AbortSignal): Promise<void>;
  close(upstream: Open): Promise<void>;
  /** Deletes the rows of removed ones that nothing names any more. */
  readonly forget?: string;
}

/** The result of loading one row. */
interface Stored<Open> {
  readonly revision: string;
  readonly isRemoved: boolean;
  /** Absent when it takes part in nothing. */
  readonly open?: Open | undefined;
  /** Why it cannot be in service although it should. */
  readonly problem?: string;
}

/**
 * Keeps the upstreams of one kind of this process equal to UPSTREAMS_FILE and the table `upstream` together, so that a change by
 * an operator reaches every process without a restart. The file wins where both name an id. The sandbox works only where
 * neither names any upstream; a disabled one is one too, so that switching the last one off never sells sandbox content.
 */
abstract class UpstreamRegistry<Row extends UpstreamRow, Entry, Open> {
  private readonly stored = new Map<string, Stored<Open>>();
  private readonly retiring = new Set<Open>();
  private readonly closing = new AbortController();
  private readonly reloading: PeriodicTask;
  private readonly statements: ReturnType<typeof statementsOf>;
  private refreshing: Promise<void> = Promise.resolve();

  protected constructor(
    private readonly database: Database,
    private readonly sealer: SecretSealer,
    /** Whether what the sandbox makes may be sold. */
    private readonly sandboxMaySell: boolean,
    private readonly following: Following<Row, Entry, Open>,
  ) {
    const { kind } = following;
    this.statements = statementsOf(kind);
    this.reloading = new PeriodicTask(`${kind.kind}-upstreams`, RELOAD_EVERY_MS, async () => {
      await this.refresh();
      return false;
    });
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

  /** Closes every connection, also those that still work. The sandbox is closed by its opener. */
  async close(): Promise<void> {
    await this.reloading.stop();
    const open = [...this.inFile(), ...this.openOnes(), ...this.retiring];
    this.closing.abort();
    await Promise.all(open.map((upstream) => this.following.close(upstream)));
  }

  private async takeOver(): Promise<void> {
    const { kind, forget } = this.following;
    if (forget !== undefined && [...this.stored.values()].some(({ isRemoved }) => isRemoved))
      await this.database.query({ text: forget });
    const { rows } = await this.database.query<Pick<Row, 'id' | 'revision'>>({
      name: `${kind.kind}_upstream_revisions`,
      text: this.statements.revisions,
    });
    const changed = rows.filter(({ id, revision }) => this.stored.get(id)?.revision !== revision).map(({ id }) => id);
    const there = new Set(rows.map(({ id }) => id));
    const removed = [...this.stored.keys()].filter((id) => !there.has(id));
    if (changed.length === 0 && removed.length === 0) return;
    const read = changed.length === 0 ? [] : await this.read(changed);
    const replaced = [...changed, ...removed].map((id) => ({ id, open: this.stored.get(id)?.open }));
    for (const id of removed) this.stored.delete(id);
    for (const row of read) this.stored.set(row.id, this.take(row));
    this.publish();
    for (const { id, open } of replaced) if (open) void this.retire(id, open);
    log.info('upstreams.changed', { kind: kind.kind, changed, removed });
  }

  private async read(ids: readonly string[]): Promise<readonly Row[]> {
    return (await this.database.query<Row>({ text: this.statements.readAll, values: [ids] })).rows;
  }

  private take(row: Row): Stored<Open> {
    const { id, revision, enabled } = row;
    const taken = { revision, isRemoved: (row.deleted_at ?? null) !== null };
    const read = this.following.fromFile?.has(id)
      ? { problem: 'UPSTREAMS_FILE has an upstream of this id, which is used instead.' }
      : entryOf(this.following.kind, this.sealer, row);
    if ('entry' in read) return { ...taken, open: this.following.open(read.entry, row) };
    const { problem } = read;
    // One that drains is missed by the work that it has.
    if (enabled || this.following.kind.drains) log.error('upstream.unusable', { upstream: id, problem });
    return { ...taken, ...(enabled && { problem }) };
  }

  private publish(): void {
    const { following } = this;
    if (following.fromFile !== undefined || this.stored.size > 0)
      following.exchange([...this.inFile(), ...this.openOnes()], 'inactive');
    else following.exchange([], this.sandboxMaySell ? 'makes' : 'forbidden');
  }

  private inFile(): Open[] {
    return [...(this.following.fromFile?.values() ?? [])];
  }

  private openOnes(): Open[] {
    return [...this.stored.values()].flatMap(({ open }) => open ?? []);
  }

  private async retire(id: string, upstream: Open): Promise<void> {
    this.retiring.add(upstream);
    try {
      await this.following.retire(upstream, this.closing.signal);
    } catch (error) {
      if (!this.closing.signal.aborted) log.warn('upstream.not_closed', { upstream: id, error });
    } finally {
      this.retiring.delete(upstream);
    }
  }
}

type ServingTextUpstream = OpenTextUpstream & TextUpstream;

/** The upstreams of text. One that is switched off or removed is out of service at once, and ends the replies under way. */
@Injectable()
export class TextUpstreamRegistry extends UpstreamRegistry<TextUpstreamRow, StoredTextEntry, ServingTextUpstream> {
  constructor(
    database: Database,
    sealer: SecretSealer,
    @Inject(OPEN_TEXT_UPSTREAMS) private readonly vendors: OpenTextUpstreams,
    upstreams: TextUpstreams,
    @Inject(SANDBOX_MAY_SELL) sandboxMaySell = true,
  ) {
    // Failures of an earlier key or address say nothing about this one.
    const opened = (entry: UpstreamEntry): [string, ServingTextUpstream] => [
      entry.id,
      { ...vendors.open(entry), healthName: `${entry.id}@${accessFingerprint(entry.key, entry.base_url)}` },
    ];
    super(database, sealer, sandboxMaySell, {
      kind: TEXT_KIND,
      fromFile: vendors.fromFile && new Map(vendors.fromFile.map(opened)),
      open: (entry, { id, enabled, revision }) =>
        enabled ? { ...vendors.open(entry), healthName: `${id}@${revision}` } : undefined,
      exchange: (open, sandbox) =>
        upstreams.exchange(sandbox === 'makes' ? [{ ...vendors.sandbox, healthName: 'sandbox' }] : open, sandbox),
      retire: (upstream) => upstream.retire(),
      close: (upstream) => upstream.close(),
    });
  }

  get fromFile(): readonly UpstreamEntry[] {
    return this.vendors.fromFile ?? [];
  }
}

/** How long the calls of a task may continue over connections that were replaced, in milliseconds: nobody sees the last of them. */
const REPLACED_MS = 600_000;

/**
 * What was removed goes when nothing names it any more, and what was accepted before waits no more: the sandbox may stand in
 * when the last one is gone, but never for orders that were sold for it. Not at once, for other processes hand it orders
 * until they look.
 */
const FORGET_REMOVED = `
delete from upstream u where u.kind = 'media' and u.deleted_at < now() - interval '1 minute'
  and not ${atWork('u.id')}
  and not exists (select from task t where t.state = 'queued' and t.created_at <= u.deleted_at)`;

/** The upstreams of media. One that is switched off or removed drains: it gets nothing new, and is asked on about what it has. */
@Injectable()
export class MediaUpstreamRegistry extends UpstreamRegistry<MediaUpstreamRow, StoredMediaEntry, RoutedUpstream> {
  constructor(
    database: Database,
    sealer: SecretSealer,
    @Inject(OPEN_MEDIA_UPSTREAMS) private readonly vendors: OpenMediaUpstreams,
    /** A process that only works on tasks makes what was sold. */
    @Inject(SANDBOX_MAY_SELL) sandboxMaySell = true,
    /** What it keeps equal. */
    readonly upstreams: MediaUpstreams = new MediaUpstreams(),
  ) {
    const { fromFile, sandbox } = vendors;
    super(database, sealer, sandboxMaySell, {
      kind: mediaKind(),
      forget: FORGET_REMOVED,
      fromFile: fromFile && new Map(fromFile.map((entry) => [entry.id, vendors.open(entry)])),
      open: (entry, { enabled, deleted_at: deletedAt }) => ({
        ...vendors.open(entry),
        isDraining: !enabled || deletedAt !== null,
      }),
      exchange: (open, part) => {
        if (part !== 'inactive')
          return upstreams.exchange(part === 'makes' ? [{ ...sandbox, isFallback: true }] : [], part);
        // What the sandbox began before is asked for to its end.
        const isNamed = open.some(({ upstream }) => upstream.id === sandbox.upstream.id);
        upstreams.exchange(isNamed ? open : [...open, { ...sandbox, isDraining: true }]);
      },
      retire: async ({ upstream }, closing) => {
        await sleep(REPLACED_MS, undefined, { signal: closing, ref: false });
        await upstream.close();
      },
      close: ({ upstream }) => upstream.close(),
    });
  }

  get fromFile(): readonly MediaUpstreamEntry[] {
    return this.vendors.fromFile ?? [];
  }
}
