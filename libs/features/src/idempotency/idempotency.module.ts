import { Database } from '#platform';
import { Module } from '@nestjs/common';
import { IdempotencyService } from './idempotency.service.js';

/** Repeating a request without paying twice. */
@Module({
  providers: [
    {
      provide: IdempotencyService,
      inject: [Database],
      useFactory: (database: Database) => new IdempotencyService(database),
    },
  ],
  exports: [IdempotencyService],
})
export class IdempotencyModule {}
