import { Database, PLATFORM, type Platform } from '#platform';
import { Module } from '@nestjs/common';
import { LedgerModule } from '../ledger/ledger.module.js';
import { LedgerService } from '../ledger/ledger.service.js';
import { AccessService } from './access.service.js';
import { KeyUse } from './key-use.js';
import { SeedService } from './seed.service.js';

/** Who may come in. */
@Module({
  imports: [LedgerModule],
  providers: [
    {
      provide: AccessService,
      inject: [Database, PLATFORM],
      useFactory: (database: Database, { secrets }: Platform) =>
        new AccessService(database, secrets.keyPepper, new KeyUse(database)),
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
