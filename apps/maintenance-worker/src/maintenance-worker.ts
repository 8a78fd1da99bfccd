import { Injectable } from '@nestjs/common';
import {
  FileIndexer,
  HoldingProcess,
  HoldingProcesses,
  ReservationLedger,
  LowBalanceNotices,
  MaintenanceService,
  ReconciliationService,
  RequestLedger,
  SpendLimits,
  StorageCharges,
  UsageDaysService,
  WebhookSender,
  WorkerHeartbeat,
} from '#features';
import { PeriodicTask } from '#platform';
import { type Worker } from '#runtime';

/** How often expired data is removed, in milliseconds. */
const ROUND_MS = 30_000;
/** How often webhooks that are due are looked for, in milliseconds. */
const WEBHOOKS_MS = 250;
/** How often files that wait to be indexed are looked for, in milliseconds. */
const FILES_MS = 500;
const BALANCES_MS = 5_000;
/** How often holds of processes that died, days to sum up and a reconciliation that is due are looked for. */
const BOOKS_MS = 60_000;
/** How often processes that hold money are looked at, in milliseconds: none must be missed for longer than it may be silent. */
const HOLDERS_MS = 1_000;

/**
 * The worker that sends webhooks, makes files searchable, removes what has expired or is too old, makes the coming months' partitions, gives
 * back what dead processes were holding, charges files that are kept, sums up each day that is over, notifies accounts that little is
 * left, and reconciles the books once a day. Any number may run at once: they share the work.
 */
@Injectable()
export class MaintenanceWorker implements Worker {
  private readonly loops: readonly PeriodicTask[];

  constructor(
    maintenance: MaintenanceService,
    requests: RequestLedger,
    reservations: ReservationLedger,
    holders: HoldingProcesses,
    reconciliation: ReconciliationService,
    usageDays: UsageDaysService,
    limits: SpendLimits,
    balances: LowBalanceNotices,
    private readonly webhooks: WebhookSender,
    private readonly heartbeat: WorkerHeartbeat,
    private readonly holder: HoldingProcess,
    private readonly indexer: FileIndexer,
    storage: StorageCharges,
  ) {
    this.loops = [
      new PeriodicTask('maintenance', ROUND_MS, () => maintenance.run()),
      new PeriodicTask('webhooks', WEBHOOKS_MS, () => webhooks.sendDue()),
      new PeriodicTask('file-index', FILES_MS, () => indexer.indexNext('quick')),
      new PeriodicTask('slow-file-index', FILES_MS, () => indexer.indexNext('slow')),
      new PeriodicTask('dead-holders', HOLDERS_MS, async () => {
        const dead = await holders.dead();
        if (dead.length > 0) await Promise.all([requests.releaseAbandoned(dead), reservations.closeAbandoned(dead)]);
        return false;
      }),
      new PeriodicTask('abandoned-holds', BOOKS_MS, async () => (await requests.releaseAbandoned()) > 0),
      new PeriodicTask('abandoned-reservations', BOOKS_MS, async () => (await reservations.closeAbandoned()) > 0),
      new PeriodicTask('file-storage', BOOKS_MS, () => storage.chargeDue()),
      new PeriodicTask('low-balances', BALANCES_MS, () => balances.send()),
      new PeriodicTask('spend-marks', BOOKS_MS, async () => {
        await limits.mark();
        return false;
      }),
      new PeriodicTask('usage-days', BOOKS_MS, () => usageDays.closeDue()),
      new PeriodicTask('reconciliation', BOOKS_MS, async () => {
        await reconciliation.runWhenDue();
        return false;
      }),
    ];
  }

  start(): void {
    for (const part of [this.heartbeat, ...this.loops]) part.start();
  }

  /** Lets what is under way come to its end, which each part of it bounds by itself. */
  async stop(): Promise<void> {
    const indexed = this.indexer.close();
    await Promise.all(this.loops.map((loop) => loop.stop()));
    await indexed;
    await this.webhooks.finished();
    await this.holder.stop();
    await this.heartbeat.gone();
  }
}
