import { Database, PLATFORM, type Platform } from '#platform';
import { Module } from '@nestjs/common';
import { ReadTaskService } from '../tasks/read-task.service.js';
import { TasksModule } from '../tasks/tasks.module.js';
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
