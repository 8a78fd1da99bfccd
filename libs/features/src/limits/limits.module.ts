import { createRateCounter, Database, PLATFORM, type Platform, type RateCounter } from '#platform';
import { Global, Inject, Module, type OnModuleDestroy } from '@nestjs/common';
import { OpenTasks } from './open-tasks.js';
import { RateLimits } from './rate-limits.js';

const RATE_COUNTER = Symbol('RateCounter');

/** How much a key may ask in a minute, and how much an account may have open. */
@Global()
@Module({
  providers: [
    {
      provide: RATE_COUNTER,
      inject: [PLATFORM],
      useFactory: ({ config, database, embedded }: Platform) => createRateCounter(config.queue, database, embedded),
    },
    {
      provide: RateLimits,
      inject: [RATE_COUNTER, PLATFORM],
      useFactory: (counter: RateCounter, { config }: Platform) =>
        new RateLimits(counter, config.limits.RATE_LIMIT_ON_STORE_FAILURE),
    },
    {
      provide: OpenTasks,
      inject: [Database, PLATFORM],
      useFactory: (database: Database, { config }: Platform) =>
        new OpenTasks(database, config.limits.OPEN_TASKS_PER_ACCOUNT),
    },
  ],
  exports: [RateLimits, OpenTasks],
})
export class LimitsModule implements OnModuleDestroy {
  constructor(@Inject(RATE_COUNTER) private readonly counter: RateCounter) {}

  onModuleDestroy(): void {
    this.counter.close();
  }
}
