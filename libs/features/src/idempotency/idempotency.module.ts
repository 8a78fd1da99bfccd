import { Module } from '@nestjs/common';
import { LedgerModule } from '../billing/ledger/ledger.module.js';
import { IdempotencyService } from './idempotency.service.js';

/** Repeating a request without paying twice. */
@Module({ imports: [LedgerModule], providers: [IdempotencyService], exports: [IdempotencyService] })
export class IdempotencyModule {}
