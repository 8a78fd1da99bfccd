import { Module } from '@nestjs/common';
import { Database } from '#platform';
import { PLATFORM, type Platform } from '#runtime';
import { LedgerModule } from '../billing/ledger/ledger.module.js';
import { LedgerService } from '../billing/ledger/ledger.service.js';
import type { GuessLimiter } from '../limits/guess-limiter.js';
import { KEY_GUESSES, LimitsModule } from '../limits/limits.module.js';
import { AccessService } from './access.service.js';
import { LastUsedTracker } from './last-used-tracker.js';
import { SeedService } from './seed.service.js';

/** Who may come in. */
@Module({
  imports: [LedgerModule, LimitsModule],
  providers: [
    { provide: LastUsedTracker, inject: [Database], useFactory: (database: Database) => new LastUsedTracker(database) },
    {
      provide: AccessService,
      inject: [Database, PLATFORM, LastUsedTracker, KEY_GUESSES],
      useFactory: (database: Database, { secrets }: Platform, uses: LastUsedTracker, guesses: GuessLimiter) =>
        new AccessService(database, secrets.keyPepper, uses, guesses),
    },
    {
      provide: SeedService,
      inject: [Database, LedgerService, PLATFORM],
      useFactory: (database: Database, ledger: LedgerService, { secrets }: Platform) =>
        new SeedService(database, ledger, secrets.keyPepper),
    },
  ],
  exports: [AccessService, SeedService],
})
export class AccessModule {}
