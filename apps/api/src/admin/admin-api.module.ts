import { AdminModule, LedgerModule, UsageModule } from '#features';
import { Module } from '@nestjs/common';
import { AccountsController } from './accounts.controller.js';
import { KeysController } from './keys.controller.js';
import { PricesController } from './prices.controller.js';
import { RecordsController } from './records.controller.js';

/** The rooms below /admin/v1. `adminGate` stands in front of all of them. */
@Module({
  imports: [AdminModule, LedgerModule, UsageModule],
  controllers: [AccountsController, KeysController, PricesController, RecordsController],
})
export class AdminApiModule {}
