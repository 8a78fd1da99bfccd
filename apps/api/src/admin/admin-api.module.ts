import { AdminModule, LedgerModule, OperationsModule, TasksModule, UsageModule } from '#features';
import { Module } from '@nestjs/common';
import { AccountsController } from './accounts.controller.js';
import { FleetController } from './fleet.controller.js';
import { KeysController } from './keys.controller.js';
import { PricesController } from './prices.controller.js';
import { RecordsController } from './records.controller.js';
import { AdminTasksController } from './tasks.controller.js';
import { TroublesController } from './troubles.controller.js';
import { UpstreamsController } from './upstreams.controller.js';

/** The rooms below /admin/v1. `adminGate` stands in front of all of them. */
@Module({
  imports: [AdminModule, LedgerModule, UsageModule, TasksModule, OperationsModule],
  controllers: [
    AccountsController,
    AdminTasksController,
    FleetController,
    KeysController,
    PricesController,
    RecordsController,
    TroublesController,
    UpstreamsController,
  ],
})
export class AdminApiModule {}
