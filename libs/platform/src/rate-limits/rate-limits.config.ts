import { Type } from 'class-transformer';
import { IsIn, IsInt, Max, Min } from 'class-validator';
import { Variable } from '../config/variable.js';

/** What limits do when they cannot be counted, and how much open work one account may have. */
export class RateLimitsConfig {
  @Variable({
    description:
      'What happens to requests of limited keys while the counts cannot be reached: allow lets them pass uncounted, refuse answers 503. Neither waits.',
  })
  @IsIn(['allow', 'refuse'])
  RATE_LIMIT_ON_STORE_FAILURE: 'allow' | 'refuse' = 'allow';

  @Variable({
    description: 'Open tasks of one account, running and queued together; more are refused with 429.',
    unit: 'tasks, 1 to 10000000',
  })
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(10_000_000)
  OPEN_TASKS_PER_ACCOUNT = 100_000;
}
