import { AccessModule, CancellationModule, EventsModule, TasksModule, TextModule, WebhooksModule } from '#features';
import { type DynamicModule, Module } from '@nestjs/common';
import { PlatformModule, type Platform } from '#platform';
import type { OpenTextProviders } from '#providers';
import { AdminApiModule } from './admin/admin-api.module.js';
import { BalanceModule } from './balance/balance.module.js';
import { DoorModule } from './door/door.module.js';
import { FilesController } from './files/files.controller.js';
import { ModelsModule } from './models/models.module.js';
import { OpsModule } from './ops/ops.module.js';
import { SubmissionsController } from './submissions/submissions.controller.js';
import { TaskEventsController } from './tasks/task-events.controller.js';
import { TasksController } from './tasks/tasks.controller.js';
import { TextApiModule } from './text/text-api.module.js';
import { UsageApiModule } from './usage/usage-api.module.js';
import { WebhookDeliveriesController } from './webhooks/webhook-deliveries.controller.js';
import { WebhookEndpointsController } from './webhooks/webhook-endpoints.controller.js';

/** The rooms of the public API. */
@Module({
  imports: [
    AccessModule,
    DoorModule,
    BalanceModule,
    UsageApiModule,
    AdminApiModule,
    TasksModule,
    EventsModule,
    CancellationModule,
    WebhooksModule,
    OpsModule,
  ],
  controllers: [
    SubmissionsController,
    TasksController,
    TaskEventsController,
    WebhookEndpointsController,
    WebhookDeliveriesController,
    FilesController,
  ],
})
export class ApiModule {
  static on(platform: Platform, providers: OpenTextProviders): DynamicModule {
    // One object, or Nest would take it for two modules.
    const text = TextModule.over(providers);
    return {
      module: ApiModule,
      imports: [PlatformModule.register(platform), TextApiModule.with(text), ModelsModule.with(text)],
    };
  }
}
