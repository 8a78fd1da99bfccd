import {
  Database,
  MEDIA_STORE,
  type MediaStore,
  PLATFORM,
  type Platform,
  SafeFetcher,
  TASK_DOORBELL,
  type TaskDoorbell,
} from '#platform';
import { Module } from '@nestjs/common';
import { ModelsOnSale } from '../prices/models-on-sale.js';
import { PriceBook } from '../prices/price-book.js';
import { PricesModule } from '../prices/prices.module.js';
import { ReadTaskService } from './read-task.service.js';
import { SubmissionService } from './submission.service.js';
import { TaskWriter } from './task-writer.js';
import { TroubledTasksService } from './troubled-tasks.service.js';

/** Taking orders and telling how they stand. Needs the TextModule, which is global and knows what is on sale. */
@Module({
  imports: [PricesModule],
  providers: [
    {
      provide: TaskWriter,
      inject: [Database, TASK_DOORBELL, PLATFORM],
      useFactory: (database: Database, doorbell: TaskDoorbell, { crashPoints }: Platform) =>
        new TaskWriter(database, doorbell, crashPoints),
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
      provide: TroubledTasksService,
      inject: [Database],
      useFactory: (database: Database) => new TroubledTasksService(database),
    },
  ],
  exports: [SubmissionService, ReadTaskService, TroubledTasksService],
})
export class TasksModule {}
