import { Module } from '@nestjs/common';
import { AdminModule } from '../admin.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { DeliverySearchService } from './delivery-search.js';
import { FleetStateService } from './fleet-state.service.js';
import { ConversationReport } from './conversation-report.js';
import { LatestCalls } from './latest-calls.js';
import { OverviewFacts } from './overview-facts.js';
import { TaskOverview } from './task-overview.js';
import { TaskRemediesService } from './task-remedies.service.js';
import { TaskSearchService } from './task-search.js';
import { WorkersService } from './workers.service.js';

const SERVICES = [
  DeliverySearchService,
  FleetStateService,
  ConversationReport,
  LatestCalls,
  OverviewFacts,
  TaskOverview,
  TaskRemediesService,
  TaskSearchService,
  WorkersService,
];

/** What operators monitor and act on while the gateway runs: tasks, deliveries, workers. */
@Module({ imports: [AdminModule, TasksModule], providers: SERVICES, exports: SERVICES })
export class OperationsModule {}
