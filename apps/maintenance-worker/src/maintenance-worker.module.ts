import { type DynamicModule, Module } from '@nestjs/common';
import {
  ReservationLedger,
  createWebhookSender,
  FileIndexer,
  HoldingProcess,
  HoldingProcesses,
  indexBytesMax,
  LowBalanceNotices,
  MaintenanceService,
  PriceBook,
  ReconciliationService,
  RequestLedger,
  SpendLimits,
  StorageCharges,
  UsageDaysService,
  WebhookSender,
  WorkerHeartbeat,
} from '#features';
import { systemClock } from '#platform';
import { type Platform, PlatformModule, workerId } from '#runtime';
import { MaintenanceWorker } from './maintenance-worker.js';

/** All that the maintenance worker is made of. */
@Module({
  providers: [
    HoldingProcess,
    ReservationLedger,
    MaintenanceWorker,
    PriceBook,
    ReconciliationService,
    RequestLedger,
    SpendLimits,
    StorageCharges,
    UsageDaysService,
  ],
})
export class MaintenanceWorkerModule {
  static register(platform: Platform): DynamicModule {
    const { config, database, store, failpoints } = platform;
    const identity = { id: workerId('maintenance'), role: 'maintenance-worker', concurrency: null } as const;
    const leaseMs = config.worker.TASK_LEASE_SECONDS * 1000;
    return {
      module: MaintenanceWorkerModule,
      imports: [PlatformModule.register(platform)],
      providers: [
        {
          provide: MaintenanceService,
          useValue: new MaintenanceService(database, store, config.retention, failpoints),
        },
        { provide: LowBalanceNotices, useValue: new LowBalanceNotices(database, config.server.BALANCE_UNIT) },
        {
          provide: FileIndexer,
          useValue: new FileIndexer(database, store, failpoints, undefined, indexBytesMax(config.files)),
        },
        { provide: HoldingProcesses, useValue: new HoldingProcesses(database, systemClock) },
        { provide: WebhookSender, useValue: createWebhookSender(platform) },
        { provide: WorkerHeartbeat, useValue: new WorkerHeartbeat(database, identity, leaseMs) },
      ],
    };
  }
}
