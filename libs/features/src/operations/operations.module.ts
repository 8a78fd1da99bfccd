import { Module } from '@nestjs/common';
import { Database } from '#platform';
import { TASK_NOTIFIER, type TaskNotifier } from '#runtime';
import { AdminModule } from '../accounts/admin.module.js';
import { AuditedChanges } from '../accounts/audit.js';
import { CancelTaskService } from '../tasks/cancel/cancel-task.service.js';
import { CancellationModule } from '../tasks/cancel/cancellation.module.js';
import { DeliverySearchService } from './delivery-search.js';
import { FleetStateService } from './fleet-state.service.js';
import { TaskOverview } from './task-overview.js';
import { TaskRemediesService } from './task-remedies.service.js';
import { TaskSearchService } from './task-search.js';
import { WorkersService } from './workers.service.js';

/** What operators look at and do while the gateway runs: tasks, deliveries, workers. */
@Module({
  imports: [AdminModule, CancellationModule],
  providers: [
    ...[FleetStateService, TaskSearchService, TaskOverview, WorkersService].map((provide) => ({
      provide,
      inject: [Database],
      useFactory: (database: Database) => new provide(database),
    })),
    {
      provide: DeliverySearchService,
      inject: [Database, AuditedChanges],
      useFactory: (database: Database, changes: AuditedChanges) => new DeliverySearchService(database, changes),
    },
    {
      provide: TaskRemediesService,
      inject: [AuditedChanges, CancelTaskService, TASK_NOTIFIER],
      useFactory: (changes: AuditedChanges, cancellation: CancelTaskService, notifier: TaskNotifier) =>
        new TaskRemediesService(changes, cancellation, notifier),
    },
  ],
  exports: [
    DeliverySearchService,
    FleetStateService,
    TaskOverview,
    TaskRemediesService,
    TaskSearchService,
    WorkersService,
  ],
})
export class OperationsModule {}
