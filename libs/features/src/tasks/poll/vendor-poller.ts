import type { MediaProviderRegistry } from '#providers';
import { Loop } from '../run/loop.js';
import { ProviderPoller, type ProviderPollerParts } from './provider-poller.js';
import { endedWithin } from '../run/step-limit.js';

/** How often the schedule is checked for having been emptied by a crash of the database, in milliseconds. */
const FILL_MS = 1_000;

/** Asks the vendors how running tasks go, each vendor in a lane of its own. Waiting costs no worker slot. */
export class VendorPoller {
  private readonly lanes: readonly ProviderPoller[];
  private readonly filling: Loop;

  constructor(providers: MediaProviderRegistry, parts: ProviderPollerParts) {
    this.lanes = providers.all.map((provider) => new ProviderPoller(provider, parts));
    this.filling = new Loop('poll-schedule', FILL_MS, async () => {
      await parts.schedule.fill();
      return false;
    });
  }

  start(): void {
    this.filling.start();
    for (const lane of this.lanes) lane.start();
  }

  /** Resolves when the questions under way are answered, or `graceMs` are over. */
  async stop(graceMs: number): Promise<void> {
    await Promise.all([endedWithin(this.filling.stop(), graceMs), ...this.lanes.map((lane) => lane.stop(graceMs))]);
  }
}
