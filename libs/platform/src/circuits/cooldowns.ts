import type { Clock } from '../clock/clock.js';
import { within } from '../clock/time-limit.js';
import { randomId } from '../identifiers/time-ordered-id.js';
import { logger } from '../log/logger.js';
import {
  type CooldownStore,
  FORGET_AFTER_MS,
  PROBE_LEASE_MS,
  type ProbeClaim,
  type StoredCooldown,
} from './cooldown-store.js';

const log = logger('cooldowns');

/** How often this replica's cooldowns are compared with those of the store, in milliseconds. */
const COMPARE_EVERY_MS = 500;

/** A shorter cooldown stays with this replica: it would be over before the others heard of it. */
const SHARED_FROM_MS = 2 * COMPARE_EVERY_MS;

/** Comparisons that fail in a row before the log says so: the first ones may only be early, or unlucky. */
const FAILURES_TO_LOG = 4;

/** A request waits no longer for its claim to probe, in milliseconds; after that this replica decides alone. */
const CLAIM_TIMEOUT_MS = 250;

/** An exchange under way at the end is waited for no longer, in milliseconds. */
const CLOSE_TIMEOUT_MS = 1_000;

/** `half_open`: the cooldown is over, and a single request may find out whether it works again. */
export type CooldownState = 'available' | 'cooling_down' | 'half_open';

/** Permission to try an upstream whose cooldown is over. */
export interface Probe {
  readonly name: string;
  /** Names this claim alone. */
  readonly prober: string;
}

interface Claim {
  readonly prober: string;
  /** False: the store was not asked. */
  readonly isShared: boolean;
  /** How many lists had been asked for before it was won: only a later one shows what happened to it. */
  readonly lists: number;
}

/** Times in Unix milliseconds of this replica's clock. */
interface Cooldown {
  coolingUntil: number;
  cooldowns: number;
  probeUntil: number;
  /** Whether the store has it, or is about to. */
  isShared: boolean;
}

/**
 * The upstreams cooling down after failures, shared by all replicas. Reads use a copy, which is compared with the store in the
 * background: only the request that claims a probe waits for the store, for a quarter of a second at most. While the store is away the copy alone decides; what happened meanwhile is stored when it is back.
 */
export class Cooldowns {
  private readonly clock: Clock;
  private readonly store: CooldownStore | undefined;
  private readonly replica = randomId('replica');
  private claims = 0;
  private lists = 0;
  private known = new Map<string, Cooldown>();
  /** The latest probe that this replica claimed of each, as long as no other replica is known to have cooled it down or probed it since. */
  private readonly claimed = new Map<string, Claim>();
  /** Changes that the store does not have yet: the latest of each. */
  private readonly unshared = new Map<string, (store: CooldownStore) => Promise<void>>();
  private readonly timer: NodeJS.Timeout | undefined;
  private comparing: Promise<void> | undefined;
  private failures = 0;

  private readonly claimTimeoutMs: number;

  /** @param store absent: this process is the only one. */
  constructor(clock: Clock, store?: CooldownStore, claimTimeoutMs = CLAIM_TIMEOUT_MS) {
    this.clock = clock;
    this.store = store;
    this.claimTimeoutMs = claimTimeoutMs;
    if (!store) return;
    this.timer = setInterval(() => this.compare(store), COMPARE_EVERY_MS).unref();
    this.compare(store);
  }

  /** True when nothing cools down or is to be probed, which is nearly always. */
  get isQuiet(): boolean {
    return this.known.size === 0;
  }

  /** The names that begin so, of those whose cooldown continues or ended `withinMs` ago or later. */
  recent(prefix: string, withinMs: number): string[] {
    const since = this.now() - withinMs;
    return [...this.known].flatMap(([name, { coolingUntil }]) =>
      name.startsWith(prefix) && coolingUntil > since ? [name] : [],
    );
  }

  stateOf(name: string): CooldownState {
    const cooldown = this.known.get(name);
    if (!cooldown) return 'available';
    return this.now() < cooldown.coolingUntil ? 'cooling_down' : 'half_open';
  }

  /** Whole milliseconds until its cooldown is over; 0 when it does not cool down. */
  coolingMs(name: string): number {
    return Math.max(0, Math.ceil((this.known.get(name)?.coolingUntil ?? 0) - this.now()));
  }

  /** How often it has cooled down since it last worked. */
  cooldownsOf(name: string): number {
    return this.known.get(name)?.cooldowns ?? 0;
  }

  /** Lets it cool down: here at once, elsewhere within a second. Of two cooldowns at a time the longer holds. */
  coolDown(name: string, coolingMs: number): void {
    const now = this.now();
    const { coolingUntil = 0, cooldowns = 0, isShared: wasShared = false } = this.known.get(name) ?? {};
    const until = Math.max(coolingUntil, now + coolingMs);
    const isShared = wasShared || coolingMs >= SHARED_FROM_MS;
    this.known.set(name, {
      coolingUntil: until,
      cooldowns: coolingUntil > now ? cooldowns : cooldowns + 1,
      probeUntil: 0,
      isShared,
    });
    this.claimed.delete(name);
    this.forget();
    if (isShared) this.share(name, (store) => store.coolDown(name, Math.max(0, until - this.now())));
  }

  /**
   * For one request of one replica when the cooldown is over; undefined for all others. It ends in `coolDown`, `recovered` or
   * `releaseProbe`. One that takes so long that another replica probes meanwhile no longer counts: see `holds`.
   */
  async claimProbe(name: string): Promise<Probe | undefined> {
    const probe = { name, prober: `${this.replica}:${(this.claims += 1)}` };
    const cooldown = this.known.get(name);
    if (!cooldown) return probe;
    const now = this.now();
    if (cooldown.coolingUntil > now || cooldown.probeUntil > now) return undefined;
    cooldown.probeUntil = now + PROBE_LEASE_MS;
    const { result, isShared } = await this.claim(probe, cooldown);
    if (result === 'won') this.claimed.set(name, { prober: probe.prober, isShared, lists: this.lists });
    if (result === 'open') this.known.delete(name);
    return result === 'lost' ? undefined : probe;
  }

  /** Whether what the probe found out is about the cooldown that it was claimed for, as far as this replica knows. */
  holds({ name, prober }: Probe): boolean {
    return this.claimed.get(name)?.prober === prober;
  }

  /** The probe had no result: another request may be the probe. */
  releaseProbe(probe: Probe): void {
    if (!this.holds(probe)) return;
    const { name, prober } = probe;
    this.claimed.delete(name);
    const cooldown = this.known.get(name);
    if (cooldown) cooldown.probeUntil = 0;
    if (cooldown?.isShared) this.share(name, (store) => store.releaseProbe(name, prober));
  }

  /** The probe succeeded: all replicas may use it again, unless it cools down again or another replica probes it by now. */
  recovered(probe: Probe): void {
    if (this.holds(probe)) this.end(probe.name, probe.prober);
  }

  /** The cooldown that is known here was not its own fault: all replicas may use it again. A newer one stays. */
  clear(name: string): void {
    this.end(name, null);
  }

  /** Stores the changes that are left, if the store can be reached, and closes it. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await within(this.comparing ?? Promise.resolve(), CLOSE_TIMEOUT_MS).catch(() => undefined);
    this.store?.close();
  }

  /** The store forgets its own; those that only this replica knows would stay forever. */
  private forget(): void {
    const before = this.now() - FORGET_AFTER_MS;
    for (const [name, { coolingUntil }] of this.known) if (coolingUntil < before) this.known.delete(name);
  }

  private end(name: string, prober: string | null): void {
    this.claimed.delete(name);
    const cooldown = this.known.get(name);
    this.known.delete(name);
    if (!cooldown?.isShared) return;
    const { cooldowns } = cooldown;
    this.share(name, (store) => store.clear(name, { prober, cooldowns }));
  }

  private now(): number {
    return this.clock.elapsedMs();
  }

  private async claim({ name, prober }: Probe, known: Cooldown): Promise<{ result: ProbeClaim; isShared: boolean }> {
    // The store cannot decide on a cooldown that it does not have yet.
    if (!this.store || !known.isShared || this.unshared.has(name)) return { result: 'won', isShared: false };
    try {
      const result = await within(this.store.claimProbe(name, prober), this.claimTimeoutMs);
      // Another replica probes, or the cooldown was lengthened: how long is read at once.
      if (result === 'lost') this.compare(this.store);
      return { result, isShared: true };
    } catch (error) {
      log.debug('probe.unclaimed', { upstream: name, error });
      return { result: 'won', isShared: false };
    }
  }

  private share(name: string, change: (store: CooldownStore) => Promise<void>): void {
    if (!this.store) return;
    this.unshared.set(name, change);
    this.compare(this.store);
  }

  /** One comparison at a time; it stores what changes meanwhile, too. */
  private compare(store: CooldownStore): void {
    this.comparing ??= this.exchange(store)
      .then(() => this.noteSuccess())
      .catch((error: unknown) => this.noteFailure(error))
      .finally(() => (this.comparing = undefined));
  }

  private async exchange(store: CooldownStore): Promise<void> {
    do {
      for (const [name, change] of this.unshared) {
        await change(store);
        if (this.unshared.get(name) === change) this.unshared.delete(name);
      }
      const number = (this.lists += 1);
      const listed = await store.list();
      // A change that came meanwhile is newer than the list.
      if (this.unshared.size === 0) this.adopt(listed, number);
    } while (this.unshared.size > 0);
  }

  private adopt(listed: readonly StoredCooldown[], number: number): void {
    const now = this.now();
    this.dropLapsed(listed, number);
    const own = [...this.known].filter(([, { isShared }]) => !isShared);
    const shared = listed.map(({ name, coolingMs, cooldowns, probeMs }): [string, Cooldown] => [
      name,
      { coolingUntil: now + coolingMs, cooldowns, probeUntil: now + probeMs, isShared: true },
    ]);
    this.known = new Map([...own, ...shared]);
  }

  /** Claims of cooldowns that another replica ended, lengthened or probes by now. */
  private dropLapsed(listed: readonly StoredCooldown[], number: number): void {
    if (this.claimed.size === 0) return;
    const stored = new Map(listed.map((cooldown) => [cooldown.name, cooldown]));
    for (const [name, claim] of this.claimed) {
      if (claim.lists >= number || this.known.get(name)?.isShared !== true) continue;
      const cooldown = stored.get(name);
      const isOurs = claim.isShared ? cooldown?.prober === claim.prober : cooldown && cooldown.coolingMs <= 0;
      if (!isOurs) this.claimed.delete(name);
    }
  }

  private noteSuccess(): void {
    if (this.failures >= FAILURES_TO_LOG) log.info('cooldowns.shared_again');
    this.failures = 0;
  }

  private noteFailure(error: unknown): void {
    this.failures += 1;
    if (this.failures === FAILURES_TO_LOG) log.warn('cooldowns.not_shared', { error });
  }
}
