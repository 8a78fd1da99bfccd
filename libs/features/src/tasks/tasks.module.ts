import { Module } from '@nestjs/common';
import { type MediaStore } from '#media';
import { Database, SafeFetcher } from '#platform';
import { MEDIA_STORE, PLATFORM, type Platform, TASK_NOTIFIER, type TaskNotifier } from '#runtime';
import { ModelsOnSale } from '../billing/prices/models-on-sale.js';
import { PriceBook } from '../billing/prices/price-book.js';
import { PricesModule } from '../billing/prices/prices.module.js';
import { ReadTaskService } from './read/read-task.service.js';
import { SubmissionService } from './submit/submission.service.js';
import { TaskWriter } from './submit/task-writer.js';
import { TasksNeedingAttentionService } from './read/tasks-needing-attention.service.js';

/** Taking orders and telling how they stand. Needs the TextModule, which is global and knows what is on sale. */
@Module({
  imports: [PricesModule],
  providers: [
    {
      provide: TaskWriter,
      inject: [Database, TASK_NOTIFIER, PLATFORM],
      useFactory: (database: Database, notifier: TaskNotifier, { failpoints }: Platform) =>
        new TaskWriter(database, notifier, failpoints),
    },
    {
      provide: SubmissionService,
      inject: [PriceBook, TaskWriter, SafeFetcher, ModelsOnSale],
      useFactory: (prices: PriceBook, tasks: TaskWriter, fetcher: SafeFetcher, onSale: ModelsOnSale) =>
        new SubmissionService(prices, tasks, fetcher, onSale),
    },
    {
      provide: ReadTaskService,
      inject: [Database, MEDIA_STORE, PLATFORM],
      useFactory: (database: Database, store: MediaStore, { config }: Platform) =>
        new ReadTaskService(database, store, config.server.BALANCE_UNIT),
    },
    {
      provide: TasksNeedingAttentionService,
      inject: [Database],
      useFactory: (database: Database) => new TasksNeedingAttentionService(database),
    },
  ],
  exports: [SubmissionService, ReadTaskService, TasksNeedingAttentionService],
})
export class TasksModule {}
