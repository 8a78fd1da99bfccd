import { PeriodicTask } from '#platform';
import { Inject, Injectable } from '@nestjs/common';
import { ProviderPoller, type ProviderPollerParts } from './provider-poller.js';
import { endedWithin } from '../run/step-limit.js';
import { WorkerParts } from '../run/worker-parts.js';

/** How often the schedule is checked for having been emptied by a crash of the database, in milliseconds. */
const FILL_MS = 1_000;
/** How long polls under way may take to end when an upstream has left the configuration. */
const LEAVING_MS = 10_000;

/**
 * Asks the upstreams how running tasks go, each by a poller of its own. Pollers begin and end with the configuration, and a
 * poller stays while its upstream drains. Waiting costs no worker slot.
 */
@Injectable()
export class VendorPoller {
  private readonly pollers = new Map<string, ProviderPoller>();
  private readonly filling: PeriodicTask;
  private stopFollowing: (() => void) | undefined;

  constructor(@Inject(WorkerParts) private readonly parts: ProviderPollerParts) {
    this.filling = new PeriodicTask('poll-schedule', FILL_MS, async () => {
      await parts.schedule.fill();
      return false;
    });
  }

  start(): void {
    this.filling.start();
    this.follow();
    this.stopFollowing = this.parts.upstreams.onExchange(() => this.follow());
  }

  /** Resolves when the polls under way are answered, or `graceMs` are over. */
  async stop(graceMs: number): Promise<void> {
    this.stopFollowing?.();
    const pollers = [...this.pollers.values()].map((poller) => poller.stop(graceMs));
    await Promise.all([endedWithin(this.filling.stop(), graceMs), ...pollers]);
  }

  private follow(): void {
    const ids = new Set(this.parts.upstreams.all.map(({ upstream }) => upstream.id));
    for (const [id, poller] of this.pollers) {
      if (ids.has(id)) continue;
      this.pollers.delete(id);
      void poller.stop(LEAVING_MS);
    }
    for (const id of ids) {
      if (this.pollers.has(id)) continue;
      const poller = new ProviderPoller(id, this.parts);
      this.pollers.set(id, poller);
      poller.start();
    }
  }
}
