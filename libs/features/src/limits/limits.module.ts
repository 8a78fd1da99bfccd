import { Global, Inject, Module, type OnModuleDestroy } from '@nestjs/common';
import { createRateCounter, Database, type RateCounter } from '#platform';
import { PLATFORM, type Platform } from '#runtime';
import { AccountRate } from './account-rate.js';
import { GuessLimiter, type GuessLimits } from './guess-limiter.js';
import { KEY_GUESSES, OPERATOR_GUESSES, RATE_COUNTER } from './limit-tokens.js';
import { OpenTasks } from './open-tasks.js';
import { OpenWaits } from './open-waits.js';
import { RateLimits } from './rate-limits.js';

const OPERATORS = { subject: 'operator', free: 10, waitingPerAddress: 3, freeInAll: 200 };
/** A client with an old key is common and no attack, and many clients may share an address. */
const KEYS = { subject: 'api_key', free: 60, waitingPerAddress: 20, freeInAll: 3_000 };

/** One class twice, each time with limits of its own. */
const guessesOf = (token: symbol, limits: GuessLimits) => ({
  provide: token,
  inject: [RATE_COUNTER],
  useFactory: (counter: RateCounter) => new GuessLimiter(limits, counter),
});

/** How much a key may ask in a minute, and how much an account may have open. */
@Global()
@Module({
  providers: [
    {
      // Chooses the port: Redis, else Postgres, else (one process for all) memory.
      provide: RATE_COUNTER,
      inject: [PLATFORM],
      useFactory: ({ config, database, isOnlyProcess }: Platform) =>
        createRateCounter(config.queue, database, isOnlyProcess),
    },
    AccountRate,
    guessesOf(OPERATOR_GUESSES, OPERATORS),
    guessesOf(KEY_GUESSES, KEYS),
    {
      // Chooses from the configuration the free share, and what happens when nothing can be counted.
      provide: RateLimits,
      inject: [RATE_COUNTER, PLATFORM],
      useFactory: (counter: RateCounter, { config }: Platform) =>
        new RateLimits(counter, config.limits.RATE_LIMIT_ON_STORE_FAILURE, config.limits.FREE_REQUESTS_PER_MINUTE),
    },
    {
      // Chooses the bound from the configuration.
      provide: OpenWaits,
      inject: [PLATFORM],
      useFactory: ({ config }: Platform) => new OpenWaits(config.limits.LONG_POLLS_PER_ACCOUNT),
    },
    {
      // Chooses the bound from the configuration.
      provide: OpenTasks,
      inject: [Database, PLATFORM],
      useFactory: (database: Database, { config }: Platform) =>
        new OpenTasks(database, config.limits.OPEN_TASKS_PER_ACCOUNT),
    },
  ],
  exports: [RateLimits, AccountRate, OpenTasks, OpenWaits, OPERATOR_GUESSES, KEY_GUESSES],
})
export class LimitsModule implements OnModuleDestroy {
  constructor(
    @Inject(RATE_COUNTER) private readonly counter: RateCounter,
    @Inject(OPERATOR_GUESSES) private readonly operatorGuesses: GuessLimiter,
    @Inject(KEY_GUESSES) private readonly keyGuesses: GuessLimiter,
  ) {}

  onModuleDestroy(): void {
    this.operatorGuesses.flush();
    this.keyGuesses.flush();
    this.counter.close();
  }
}
