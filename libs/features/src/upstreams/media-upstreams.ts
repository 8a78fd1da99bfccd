import type { MediaUpstream } from '#contracts';
import type { ConfiguredMediaUpstream } from '#providers';

/** An upstream of media as the router sees it. */
export interface RoutedUpstream extends ConfiguredMediaUpstream {
  /** It gets nothing new, and is asked on about what it has. */
  readonly isDraining?: boolean;
  /** It is the sandbox, used because no upstream is configured. */
  readonly standsIn?: boolean;
}

/** Whether the built-in sandbox makes media, may not sell it, or is not used. */
export type SandboxPart = 'makes' | 'barred' | 'idle';

/** The upstreams of one moment. */
interface Table {
  readonly all: readonly RoutedUpstream[];
  readonly byId: ReadonlyMap<string, RoutedUpstream>;
  /** By model, of those that serve it; filled as they are asked for. */
  readonly serving: Map<string, readonly RoutedUpstream[]>;
  readonly sandbox: SandboxPart;
}

const tableOf = (all: readonly RoutedUpstream[], sandbox: SandboxPart): Table => ({
  all,
  byId: new Map(all.map((routed) => [routed.upstream.id, routed])),
  serving: new Map(),
  sandbox,
});

/** Which upstreams make which model. They may be exchanged at any time; rows name them by their ids. */
export class MediaUpstreams {
  #table = tableOf([], 'idle');
  readonly #listeners = new Set<() => void>();

  /** The table of a process whose upstreams never change: tests, and programs that measure. */
  static of(...upstreams: readonly MediaUpstream[]): MediaUpstreams {
    const table = new MediaUpstreams();
    table.exchange(upstreams.map(alone));
    return table;
  }

  get all(): readonly RoutedUpstream[] {
    return this.#table.all;
  }

  get sandbox(): SandboxPart {
    return this.#table.sandbox;
  }

  /** Puts these in the place of all there were, at once. */
  exchange(upstreams: readonly RoutedUpstream[], sandbox: SandboxPart = 'idle'): void {
    this.#table = tableOf(upstreams, sandbox);
    for (const listener of this.#listeners) listener();
  }

  /** Hears of every exchange. @returns how to hear no more. */
  onExchange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The upstream that holds the work of a row; undefined: not in this configuration. */
  byId(id: string): RoutedUpstream | undefined {
    return this.#table.byId.get(id);
  }

  /** The upstreams that take new orders for a model. */
  serving(model: string): readonly RoutedUpstream[] {
    const { serving, all } = this.#table;
    const known = serving.get(model);
    if (known) return known;
    const found = all.filter(
      ({ isDraining = false, weight, models }) => !isDraining && weight > 0 && (models?.has(model) ?? true),
    );
    serving.set(model, found);
    return found;
  }

  /** The ids of all upstreams that share the limits of a vendor account. */
  ofAccount(vendorAccount: string): string[] {
    return this.all
      .filter(({ upstream }) => upstream.vendorAccount === vendorAccount)
      .map(({ upstream }) => upstream.id);
  }
}

/** An upstream without configuration. */
const alone = (upstream: MediaUpstream): RoutedUpstream => ({
  upstream,
  models: undefined,
  priority: 0,
  weight: 1,
  onlyAccounts: new Set(),
  limits: {},
  lostCalls: 'fail',
});
