import { Module } from '@nestjs/common';
import { TasksModule } from '../tasks.module.js';
import { FollowTaskService } from './follow-task.service.js';
import { TaskWatch } from './task-watch.js';

/** Waiting for tasks and following them. */
@Module({
  imports: [TasksModule],
  providers: [FollowTaskService, TaskWatch],
  exports: [FollowTaskService, TaskWatch],
})
export class EventsModule {}
