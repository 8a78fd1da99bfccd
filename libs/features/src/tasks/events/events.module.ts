import { Module } from '@nestjs/common';
import { Database } from '#platform';
import { PLATFORM, type Platform } from '#runtime';
import { ReadTaskService } from '../read/read-task.service.js';
import { TasksModule } from '../tasks.module.js';
import { FollowTaskService } from './follow-task.service.js';
import { TaskWatch } from './task-watch.js';

/** Waiting for tasks and following them. */
@Module({
  imports: [TasksModule],
  providers: [
    {
      provide: TaskWatch,
      inject: [Database, PLATFORM],
      useFactory: (database: Database, { taskSignals }: Platform) => new TaskWatch(database, taskSignals),
    },
    {
      provide: FollowTaskService,
      inject: [ReadTaskService, TaskWatch],
      useFactory: (tasks: ReadTaskService, watch: TaskWatch) => new FollowTaskService(tasks, watch),
    },
  ],
  exports: [FollowTaskService, TaskWatch],
})
export class EventsModule {}
