import { Type } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';
import { Variable } from '#platform';

/** How much one worker process does at once. */
export class WorkerConfig {
  @Variable({ description: 'Steps of video tasks that one process works on at once.', unit: 'tasks, 1 to 1000' })
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(1_000)
  VIDEO_WORKER_CONCURRENCY = 16;

  @Variable({ description: 'Steps of image tasks that one process works on at once.', unit: 'tasks, 1 to 1000' })
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(1_000)
  IMAGE_WORKER_CONCURRENCY = 16;

  @Variable({
    description: 'How long a task stays with a worker that has gone silent, before another takes it over.',
    unit: 'seconds, 1 to 300',
  })
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(300)
  TASK_LEASE_SECONDS = 15;

  @Variable({
    description:
      'How long calls of vendors that are under way may go on when a worker is asked to stop; what they make is paid for. Other work has SHUTDOWN_GRACE_SECONDS.',
    unit: 'seconds, 1 to 3600',
  })
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(3_600)
  CALL_GRACE_SECONDS = 120;
}
