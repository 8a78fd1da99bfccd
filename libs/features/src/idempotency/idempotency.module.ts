import { Module } from '@nestjs/common';
import { Database } from '#platform';
import { LedgerModule } from '../billing/ledger/ledger.module.js';
import { RequestLedger } from '../billing/ledger/request-ledger.js';
import { IdempotencyService } from './idempotency.service.js';

/** Repeating a request without paying twice. */
@Module({
  imports: [LedgerModule],
  providers: [
    {
      provide: IdempotencyService,
      inject: [Database, RequestLedger],
      useFactory: (database: Database, ledger: RequestLedger) => new IdempotencyService(database, ledger),
    },
  ],
  exports: [IdempotencyService],
})
export class IdempotencyModule {}
