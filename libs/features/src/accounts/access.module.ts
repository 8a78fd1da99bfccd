import { Module } from '@nestjs/common';
import { LedgerModule } from '../billing/ledger/ledger.module.js';
import { LimitsModule } from '../limits/limits.module.js';
import { AccessService } from './access.service.js';
import { LastUsedTracker } from './last-used-tracker.js';
import { SeedService } from './seed.service.js';

/** Authentication of API keys. */
@Module({
  imports: [LedgerModule, LimitsModule],
  providers: [AccessService, LastUsedTracker, SeedService],
  exports: [AccessService, SeedService],
})
export class AccessModule {}
