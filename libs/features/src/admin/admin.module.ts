import { Database, PLATFORM, type Platform } from '#platform';
import { Module } from '@nestjs/common';
import { AccountsService } from './accounts.service.js';
import { AuditedChanges } from './audit.js';
import { FundsService } from './funds.service.js';
import { KeysService } from './keys.service.js';
import { PricesService } from './prices.service.js';
import { RecordsService } from './records.service.js';

/** What operators do. */
@Module({
  providers: [
    {
      provide: AuditedChanges,
      inject: [Database],
      useFactory: (database: Database) => new AuditedChanges(database),
    },
    {
      provide: AccountsService,
      inject: [Database, AuditedChanges],
      useFactory: (database: Database, changes: AuditedChanges) => new AccountsService(database, changes),
    },
    {
      provide: FundsService,
      inject: [AuditedChanges],
      useFactory: (changes: AuditedChanges) => new FundsService(changes),
    },
    {
      provide: KeysService,
      inject: [Database, AuditedChanges, PLATFORM],
      useFactory: (database: Database, changes: AuditedChanges, { secrets }: Platform) =>
        new KeysService(database, changes, secrets.keyPepper),
    },
    {
      provide: PricesService,
      inject: [Database, AuditedChanges],
      useFactory: (database: Database, changes: AuditedChanges) => new PricesService(database, changes),
    },
    {
      provide: RecordsService,
      inject: [Database],
      useFactory: (database: Database) => new RecordsService(database),
    },
  ],
  exports: [AccountsService, FundsService, KeysService, PricesService, RecordsService],
})
export class AdminModule {}
