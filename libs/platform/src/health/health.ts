import { logger } from '../log/logger.js';
import { VERSION } from '../package-files.js';
import { TimeoutError, within } from '../clock/time-limit.js';

const log = logger('health');

/** The longest one part may take to answer; orchestrators give up soon after. */
const CHECK_TIMEOUT_MS = 2_000;
/** Many load balancers may ask at once; they share one round of checks. */
const FRESH_MS = 500;

/** Checks one thing the process needs. Returns why it is unfit in one plain sentence, or null when it is fit. */
export interface HealthCheck {
  readonly part: string;
  /** True: without it the process cannot work at all. False: it continues in a degraded state. */
  readonly isNeeded: boolean;
  readonly check: () => Promise<string | null>;
}

export interface PartHealth {
  readonly ok: boolean;
  /** Why not; absent when it is fit. */
  readonly reason?: string;
}

/** `degraded`: the process does its work, though something is missing that it can do without for a while. */
export const READINESS_STATUSES = ['ready', 'degraded', 'not_ready'] as const;
export type ReadinessStatus = (typeof READINESS_STATUSES)[number];

/** What `/readyz` answers: 200 when `status` is `ready` or `degraded`, 503 when it is `not_ready`. */
export interface Readiness {
  readonly status: ReadinessStatus;
  readonly version: string;
  /** What is amiss, each beginning with the name of its part; empty when all is well. */
  readonly reasons: readonly string[];
  readonly parts: Readonly<Record<string, PartHealth>>;
}

/** What `/healthz` answers while the process runs at all. */
export interface Liveness {
  readonly status: 'alive';
  readonly version: string;
  readonly uptime_seconds: number;
}

/** Whether this process is alive, and whether it should be given work. */
export class Health {
  private draining = false;
  private isStarting = false;
  private latest: Promise<Readiness> | undefined;
  private whole: ((own: Readiness) => Promise<Readiness>) | undefined;
  private latestAt = Number.NEGATIVE_INFINITY;

  private readonly checks: HealthCheck[];

  constructor(checks: readonly HealthCheck[]) {
    this.checks = [...checks];
  }

  /** Asks these from now on as well. */
  add(...checks: readonly HealthCheck[]): void {
    this.checks.push(...checks);
    this.latest = undefined;
  }

  /** Until `started` the process is not ready: its health can be read on a port of its own before it serves requests. */
  starting(): void {
    this.isStarting = true;
    this.latest = undefined;
  }

  /** From now on the process is as ready as its parts. */
  started(): void {
    this.isStarting = false;
    this.latest = undefined;
  }

  /** From now on the process is not ready, so that it gets no new work; running work continues. */
  drain(): void {
    this.draining = true;
    this.latest = undefined;
  }

  /** True from `drain` on. */
  get isDraining(): boolean {
    return this.draining;
  }

  /** True when the process answers at all. A database that is away is no reason to restart it. */
  alive(): Liveness {
    return { status: 'alive', version: VERSION, uptime_seconds: Math.floor(process.uptime()) };
  }

  /** From now on `ready` answers for several processes, of which this is one: what `whole` makes of its own readiness. */
  standFor(whole: (own: Readiness) => Promise<Readiness>): void {
    this.whole = whole;
  }

  /** What `/readyz` answers: how this process stands, or all that it stands for. Never throws. */
  async ready(): Promise<Readiness> {
    const own = await this.own();
    return this.whole ? this.whole(own) : own;
  }

  /** Asks every part of this process at once; answers within about two seconds, whatever hangs. Never throws. */
  own(): Promise<Readiness> {
    if (this.latest === undefined || performance.now() - this.latestAt > FRESH_MS) {
      this.latestAt = performance.now();
      this.latest = this.ask();
    }
    return this.latest;
  }

  private async ask(): Promise<Readiness> {
    const asked = await Promise.all(this.checks.map(async (check) => [check.part, await examine(check)] as const));
    const parts = Object.fromEntries([...asked, ['process', this.ofProcess()] as const]);
    const unfit = Object.entries(parts).filter(([, { ok }]) => !ok);
    const optional = new Set(this.checks.filter(({ isNeeded }) => !isNeeded).map(({ part }) => part));
    const canWork = unfit.every(([part]) => optional.has(part));
    const status = unfit.length === 0 ? 'ready' : canWork ? 'degraded' : 'not_ready';
    const reasons = unfit.map(([part, { reason }]) => `${part}: ${reason}`);
    return { status, version: VERSION, reasons, parts };
  }

  private ofProcess(): PartHealth {
    if (this.draining) return { ok: false, reason: 'the process is shutting down' };
    return this.isStarting ? { ok: false, reason: 'the process is starting' } : { ok: true };
  }
}

async function examine({ part, check }: HealthCheck): Promise<PartHealth> {
  try {
    const reason = await within(check(), CHECK_TIMEOUT_MS);
    return reason === null ? { ok: true } : { ok: false, reason };
  } catch (error) {
    log.warn('health.check_failed', { part, error });
    const hangs = error instanceof TimeoutError;
    return {
      ok: false,
      reason: hangs
        ? `no answer within ${CHECK_TIMEOUT_MS / 1000} s`
        : 'the check failed; the log of the process says why',
    };
  }
}
