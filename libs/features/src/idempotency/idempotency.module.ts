import { Database } from '#platform';
import { Module } from '@nestjs/common';
import { LedgerModule } from '../ledger/ledger.module.js';
import { RequestLedger } from '../ledger/request-ledger.js';
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
