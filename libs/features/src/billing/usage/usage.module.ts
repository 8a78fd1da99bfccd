import { Module } from '@nestjs/common';
import { Database } from '#platform';
import { UsageService } from './usage.service.js';

/** What was used. */
@Module({
  providers: [
    { provide: UsageService, inject: [Database], useFactory: (database: Database) => new UsageService(database) },
  ],
  exports: [UsageService],
})
export class UsageModule {}
