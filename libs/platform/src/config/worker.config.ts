import { Type } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';
import { Variable } from './variable.js';

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
}
