import { Database } from '#platform';
import { Module } from '@nestjs/common';
import { LedgerService } from './ledger.service.js';

/** The money of the accounts. */
@Module({
  providers: [
    { provide: LedgerService, inject: [Database], useFactory: (database: Database) => new LedgerService(database) },
  ],
  exports: [LedgerService],
})
export class LedgerModule {}
