import { Module } from '@nestjs/common';
import { type MediaStore } from '#media';
import { Database } from '#platform';
import { MEDIA_STORE, PLATFORM, type Platform, TASK_SIGNALS, type TaskSignals } from '#runtime';
import { PricesModule } from '../billing/prices/prices.module.js';
import { CancelTaskService } from './cancel/cancel-task.service.js';
import { VendorCallbacksService } from './poll/vendor-callbacks.js';
import { AccountTasks } from './read/account-tasks.service.js';
import { FileOwners } from './read/file-owners.js';
import { FollowTaskService, TaskWatch } from './read/follow-task.service.js';
import { ReadTaskService } from './read/read-task.service.js';
import { TasksNeedingAttentionService } from './read/tasks-needing-attention.service.js';
import { SettleTaskService } from './settle/settle-task.service.js';
import { SubmissionService } from './submit/submission.service.js';
import { TaskWriter } from './submit/task-writer.js';
import { TaskTransitions } from './task-transitions.js';

const SERVICES = [
  AccountTasks,
  CancelTaskService,
  FileOwners,
  FollowTaskService,
  SubmissionService,
  TasksNeedingAttentionService,
  TaskWatch,
  VendorCallbacksService,
];

/** What the API does with tasks, and what vendors say of them. Needs the TextModule, which is global and knows the models on sale. */
@Module({
  imports: [PricesModule],
  providers: [
    ...SERVICES,
    SettleTaskService,
    TaskWriter,
    {
      // Chooses from the configuration the unit in which amounts are shown.
      provide: ReadTaskService,
      inject: [Database, MEDIA_STORE, PLATFORM],
      useFactory: (database: Database, store: MediaStore, { config }: Platform) =>
        new ReadTaskService(database, store, config.server.BALANCE_UNIT),
    },
    {
      // Chooses owner and lease: the API claims nothing, so it owns nothing and needs no lease.
      provide: TaskTransitions,
      inject: [Database, TASK_SIGNALS],
      useFactory: (database: Database, signals: TaskSignals) => new TaskTransitions(database, signals, 'api', 0),
    },
  ],
  exports: [...SERVICES, ReadTaskService],
})
export class TasksModule {}
