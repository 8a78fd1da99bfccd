import { Module } from '@nestjs/common';
import { Database } from '#platform';
import { PLATFORM, type Platform } from '#runtime';
import { EventsModule } from '../events/events.module.js';
import { FollowTaskService } from '../events/follow-task.service.js';
import { ReadTaskService } from '../read/read-task.service.js';
import { TasksModule } from '../tasks.module.js';
import { CancelTaskService } from './cancel-task.service.js';
import { SettleTaskService } from '../settle/settle-task.service.js';
import { TaskTransitions } from '../task-transitions.js';

/** Stopping tasks. */
@Module({
  imports: [TasksModule, EventsModule],
  providers: [
    {
      provide: CancelTaskService,
      inject: [ReadTaskService, FollowTaskService, Database, PLATFORM],
      useFactory: (
        tasks: ReadTaskService,
        follow: FollowTaskService,
        database: Database,
        { taskSignals, failpoints }: Platform,
      ) => {
        // The API claims nothing, so it owns nothing and needs no lease.
        const moves = new TaskTransitions(database, taskSignals, 'api', 0);
        return new CancelTaskService(tasks, follow, moves, new SettleTaskService(database, taskSignals, failpoints));
      },
    },
  ],
  exports: [CancelTaskService],
})
export class CancellationModule {}
