import { Type } from 'class-transformer';
import { IsIn, IsInt, Max, Min } from 'class-validator';
import { Variable } from '../config/variable.js';

/** What limits do when they cannot be counted, and how much open work one account may have. */
export class RateLimitsConfig {
  @Variable({
    description:
      'What happens to requests of rate-limited keys while the counters cannot be reached: allow lets them pass uncounted, refuse answers 503. Neither waits.',
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

  @Variable({
    description:
      'Free requests of one account (quotes, token counts, lists, batches of tasks, cancellations, webhook tests and settings); more are refused with 429. A key with its own rate limit counts those with a body against that limit instead, except cancellations.',
    unit: 'requests a minute, 1 to 10000000',
  })
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(10_000_000)
  FREE_REQUESTS_PER_MINUTE = 1_200;

  @Variable({
    description:
      'Requests of one account that may wait for a task at once in an API process, including event streams of tasks; more are refused with 429.',
    unit: 'requests, 1 to 1000000',
  })
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  OPEN_WAITS_PER_ACCOUNT = 1_000;

  @Variable({
    description:
      'Text requests and embeddings of one account that an API process handles at once, including streams; more are refused with 429.',
    unit: 'requests, 1 to 1000000',
  })
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  TEXTS_AT_ONCE_PER_ACCOUNT = 1_000;
}
