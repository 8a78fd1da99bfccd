import { Module } from '@nestjs/common';
import { Database } from '#platform';
import { AllowanceLedger } from './allowance-ledger.js';
import { BalanceService } from './balance.service.js';
import { LedgerService } from './ledger.service.js';
import { ReconciliationService } from './reconciliation.service.js';
import { RequestLedger } from './request-ledger.js';

/** The money of the accounts. */
@Module({
  providers: [
    { provide: LedgerService, inject: [Database], useFactory: (database: Database) => new LedgerService(database) },
    { provide: BalanceService, inject: [Database], useFactory: (database: Database) => new BalanceService(database) },
    { provide: RequestLedger, inject: [Database], useFactory: (database: Database) => new RequestLedger(database) },
    { provide: AllowanceLedger, inject: [Database], useFactory: (database: Database) => new AllowanceLedger(database) },
    {
      provide: ReconciliationService,
      inject: [Database],
      useFactory: (database: Database) => new ReconciliationService(database),
    },
  ],
  exports: [AllowanceLedger, BalanceService, LedgerService, ReconciliationService, RequestLedger],
})
export class LedgerModule {}
