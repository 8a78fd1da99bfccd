import { Module } from '@nestjs/common';
import { Database } from '#platform';
import { PLATFORM, type Platform } from '#runtime';
import { AccountsService } from './accounts.service.js';
import { AuditedChanges } from './audit.js';
import { FundsService } from '../billing/ledger/funds.service.js';
import { KeysService } from './keys.service.js';
import { PriceImport } from '../billing/prices/price-import.js';
import { PricesService } from '../billing/prices/prices.service.js';
import { UpstreamRegistry } from '../text/upstream-registry.js';
import { RecordsService } from '../billing/ledger/records.service.js';
import { UpstreamsService } from '../text/upstreams/upstreams.service.js';

/** What operators do. Needs the TextModule, which is global. */
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
      provide: PriceImport,
      inject: [Database, AuditedChanges],
      useFactory: (database: Database, changes: AuditedChanges) => new PriceImport(database, changes),
    },
    {
      provide: RecordsService,
      inject: [Database],
      useFactory: (database: Database) => new RecordsService(database),
    },
    {
      provide: UpstreamsService,
      inject: [Database, AuditedChanges, PLATFORM, UpstreamRegistry],
      useFactory: (database: Database, changes: AuditedChanges, { sealer }: Platform, roster: UpstreamRegistry) =>
        new UpstreamsService(database, changes, sealer, roster),
    },
  ],
  exports: [
    AuditedChanges,
    AccountsService,
    FundsService,
    KeysService,
    PriceImport,
    PricesService,
    RecordsService,
    UpstreamsService,
  ],
})
export class AdminModule {}
