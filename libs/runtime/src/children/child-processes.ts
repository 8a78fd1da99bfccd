import {
  type Backoff,
  backoffMs,
  type Health,
  logger,
  lruCache,
  mergedText,
  mergedTotals,
  type MetricsPage,
  type PartHealth,
  type Readiness,
  type Series,
  signals,
} from '#platform';
import { Child } from './child.js';

const log = logger('process');

/** How long the place of a lost child stays empty; from the first again for one that has lived for a minute. */
const RESTARTS: Backoff = { firstMs: 200, longestMs: 30_000, spread: 0.1 };
const LIVED_MS = 60_000;
/** How often children are asked how they stand, and after how much silence one is ended, in milliseconds. */
const WATCH_EVERY_MS = 5_000;
const SILENT_MS = 30_000;
/** How long a child that makes room serves on, so that clients that keep connections alive open their next one elsewhere. */
const NOTICE_MS = 2_000;
/** How long a child may take to stop beyond what its settings allow, in milliseconds. */
const STOP_SLACK_MS = 15_000;
/** Notes that are remembered for the children. */
const NOTES_MAX = 100_000;

/** How many children serve which port, and what tells of them. */
export interface ChildrenPlan {
  readonly count: number;
  readonly port: number;
  /** How long a child may take to stop by its settings, in milliseconds. */
  readonly stopMs: number;
  /** Health and metrics of this process, which tell of the children as well from now on. */
  readonly health: Health;
  readonly metrics: MetricsPage;
}

/** A place among the children, which one fills at a time. */
interface Place {
  readonly number: number;
  child?: Child;
  /** How often in a row a child was lost here. */
  losses: number;
  restart?: NodeJS.Timeout;
}

/**
 * Processes that serve one port together: Node's cluster deals each new connection to the next of them. They run the program of this
 * process, which keeps their number, sums up what they measure, and remembers what they share.
 */
export class ChildProcesses {
  private readonly places: readonly Place[];
  /** All that have not ended: also those that make room for another, or come to take a place. */
  private readonly living = new Set<Child>();
  private readonly notes = lruCache<string, string>(NOTES_MAX);
  /** What those that have ended have counted. */
  private left: readonly Series[] = [];
  private stopping: Promise<void> | undefined;
  private isRenewing = false;
  private readonly watch: NodeJS.Timeout;

  private constructor(private readonly plan: ChildrenPlan) {
    this.places = Array.from({ length: plan.count }, (_, index) => ({ number: index + 1, losses: 0 }));
    plan.metrics.standFor(() => this.metrics());
    plan.health.standFor(async (own) => this.readiness(own));
    this.watch = setInterval(() => void this.endSilent(), WATCH_EVERY_MS).unref();
  }

  /** Starts them all. @throws ChildStartError when one does not come up; the others are ended. */
  static async start(plan: ChildrenPlan): Promise<ChildProcesses> {
    const children = new ChildProcesses(plan);
    try {
      await Promise.all(children.places.map((place) => children.fill(place)));
      return children;
    } catch (error) {
      await children.stop();
      throw error;
    }
  }

  /** Starts each anew, one after the other: the old one leaves when the new one serves, so that nothing is refused. */
  async renew(): Promise<void> {
    if (this.isRenewing || this.stopping) return;
    this.isRenewing = true;
    try {
      log.info('process.renewal_started', { children: this.places.length });
      for (const place of this.places) if (!this.stopping) await this.fill(place);
      log.info('process.renewed', { children: this.places.length });
    } catch (error) {
      // Those that were not renewed serve on.
      if (!this.stopping) log.error('process.renewal_failed', { error });
    } finally {
      this.isRenewing = false;
    }
  }

  /** Tells all to stop: they are not ready any more, and bring to an end what they have begun. Resolves when they have ended. */
  stop(): Promise<void> {
    this.stopping ??= this.retireAll();
    return this.stopping;
  }

  private async retireAll(): Promise<void> {
    clearInterval(this.watch);
    for (const { restart } of this.places) clearTimeout(restart);
    await Promise.all([...this.living].map((child) => child.retire(this.retireMs)));
  }

  private get retireMs(): number {
    return this.plan.stopMs + STOP_SLACK_MS;
  }

  /** Starts a child, which takes the place when it serves requests; the one that had it until then leaves. */
  private async fill(place: Place): Promise<void> {
    const calls = {
      metrics: () => this.metrics(),
      readiness: () => this.plan.health.ready(),
      readNote: (name: string) => this.notes.get(name) ?? null,
      writeNote: (name: string, note: string, seconds: number) =>
        void this.notes.set(name, note, { ttl: seconds * 1_000 }),
      removeNote: (name: string) => void this.notes.delete(name),
    };
    const child: Child = new Child(place.number, this.plan.port, calls, () =>
      this.places.some(({ child: other }) => other !== child && other?.isInService),
    );
    this.living.add(child);
    void child.ended.then((by) => this.outlive(child, by));
    await child.serving;
    clearTimeout(place.restart);
    const previous = place.child;
    place.child = child;
    void child.ended.then(() => this.replace(place, child));
    if (previous?.isInService) await previous.retire(this.retireMs + NOTICE_MS, NOTICE_MS);
  }

  /** Keeps what a child has counted beyond its end. */
  private outlive(child: Child, by: number | string): void {
    if (!child.wasRetired) {
      log.error('process.child_lost', { child: child.number, by });
      signals.apiProcessesLost.inc();
    }
    this.living.delete(child);
    this.left = mergedTotals([this.left, child.lastSeries]);
  }

  /** Fills the place of a child that was lost, the later the more were lost here in a row. */
  private replace(place: Place, lost: Child): void {
    if (place.child !== lost || lost.wasRetired || this.stopping) return;
    place.losses = performance.now() - lost.startedAtMs > LIVED_MS ? 0 : place.losses;
    this.restartLater(place);
  }

  private restartLater(place: Place): void {
    const pauseMs = backoffMs(RESTARTS, place.losses);
    place.losses += 1;
    place.restart = setTimeout(() => {
      this.fill(place).catch(() => {
        if (!this.stopping) this.restartLater(place);
      });
    }, pauseMs);
  }

  private async metrics(): Promise<string> {
    signals.apiProcesses.set(this.places.filter(({ child }) => child?.isInService).length);
    const own = await this.plan.metrics.series();
    await Promise.all([...this.living].map((child) => child.series()));
    // At one moment, so that a child that ends is counted once: as one of the living or among what was left.
    return mergedText([own, ...[...this.living].map((child) => child.lastSeries), this.left]);
  }

  private async readiness(own: Readiness): Promise<Readiness> {
    return wholeReadiness(
      own,
      await Promise.all(this.places.map(async ({ child }) => (await child?.readiness()) ?? null)),
    );
  }

  /** A child whose loop stands still, be it while it starts, takes no connection and ends none: nobody else would notice. */
  private async endSilent(): Promise<void> {
    const living = [...this.living].filter(({ wasRetired }) => !wasRetired);
    await Promise.all(living.map((child) => child.ask()));
    for (const child of living) {
      if (child.silentMs < SILENT_MS) continue;
      log.error('process.child_killed', { child: child.number, reason: `it was silent for ${SILENT_MS / 1000} s` });
      child.kill();
    }
  }
}

/**
 * How a process and its children stand together: fit as long as one child is, and degraded while one is not. A part is fit when it is
 * in each process that has it.
 *
 * @param children null: one that is not running, or does not answer.
 */
export function wholeReadiness(own: Readiness, children: readonly (Readiness | null)[]): Readiness {
  const serving = children.filter((child) => child !== null && child.status !== 'not_ready').length;
  const parts: Record<string, PartHealth> = { ...own.parts };
  for (const child of children)
    for (const [part, health] of Object.entries(child?.parts ?? {})) if (parts[part]?.ok ?? true) parts[part] = health;
  const missing = `${serving} of ${children.length} API processes can serve requests`;
  parts['api_processes'] = serving === children.length ? { ok: true } : { ok: false, reason: missing };
  const unfit = Object.entries(parts).filter(([, { ok }]) => !ok);
  const canWork = own.status !== 'not_ready' && serving > 0;
  return {
    ...own,
    status: unfit.length === 0 ? 'ready' : canWork ? 'degraded' : 'not_ready',
    reasons: unfit.map(([part, { reason }]) => `${part}: ${reason}`),
    parts,
  };
}
