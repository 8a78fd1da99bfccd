import { Module } from '@nestjs/common';
import { Database } from '#platform';
import { TASK_SIGNALS, type TaskSignals } from '#runtime';
import { EventsModule } from '../events/events.module.js';
import { SettleTaskService } from '../settle/settle-task.service.js';
import { TaskTransitions } from '../task-transitions.js';
import { TasksModule } from '../tasks.module.js';
import { CancelTaskService } from './cancel-task.service.js';

/** Stopping tasks. */
@Module({
  imports: [TasksModule, EventsModule],
  providers: [
    CancelTaskService,
    SettleTaskService,
    {
      // Chooses owner and lease: the API claims nothing, so it owns nothing and needs no lease.
      provide: TaskTransitions,
      inject: [Database, TASK_SIGNALS],
      useFactory: (database: Database, signals: TaskSignals) => new TaskTransitions(database, signals, 'api', 0),
    },
  ],
  exports: [CancelTaskService],
})
export class CancellationModule {}
