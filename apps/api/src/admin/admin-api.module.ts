import { AdminModule, LedgerModule, TasksModule, UsageModule } from '#features';
import { Module } from '@nestjs/common';
import { AccountsController } from './accounts.controller.js';
import { KeysController } from './keys.controller.js';
import { PricesController } from './prices.controller.js';
import { RecordsController } from './records.controller.js';
import { TroublesController } from './troubles.controller.js';
import { UpstreamsController } from './upstreams.controller.js';

/** The rooms below /admin/v1. `adminGate` stands in front of all of them. */
@Module({
  imports: [AdminModule, LedgerModule, UsageModule, TasksModule],
  controllers: [
    AccountsController,
    KeysController,
    PricesController,
    RecordsController,
    TroublesController,
    UpstreamsController,
  ],
})
export class AdminApiModule {}
