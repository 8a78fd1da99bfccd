import { Module } from '@nestjs/common';
import { type MediaStore } from '#media';
import { Database } from '#platform';
import { MEDIA_STORE, PLATFORM, type Platform } from '#runtime';
import { PricesModule } from '../billing/prices/prices.module.js';
import { AccountTasks } from './read/account-tasks.service.js';
import { FileOwners } from './read/file-owners.js';
import { ReadTaskService } from './read/read-task.service.js';
import { TasksNeedingAttentionService } from './read/tasks-needing-attention.service.js';
import { SubmissionService } from './submit/submission.service.js';
import { TaskWriter } from './submit/task-writer.js';

/** Submits, reads and cancels tasks. Needs the TextModule, which is global and knows the models on sale. */
@Module({
  imports: [PricesModule],
  providers: [
    AccountTasks,
    FileOwners,
    SubmissionService,
    TasksNeedingAttentionService,
    TaskWriter,
    {
      // Chooses from the configuration the unit in which amounts are shown.
      provide: ReadTaskService,
      inject: [Database, MEDIA_STORE, PLATFORM],
      useFactory: (database: Database, store: MediaStore, { config }: Platform) =>
        new ReadTaskService(database, store, config.server.BALANCE_UNIT),
    },
  ],
  exports: [AccountTasks, FileOwners, SubmissionService, ReadTaskService, TasksNeedingAttentionService],
})
export class TasksModule {}
