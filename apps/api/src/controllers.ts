import { AccountsController } from './admin/accounts.controller.js';
import { FleetController } from './admin/fleet.controller.js';
import { KeysController } from './admin/keys.controller.js';
import { PricesController } from './admin/prices.controller.js';
import { RecordsController } from './admin/records.controller.js';
import { AdminTasksController } from './admin/tasks.controller.js';
import { TroublesController } from './admin/troubles.controller.js';
import { UpstreamsController } from './admin/upstreams.controller.js';
import { BalanceController } from './balance/balance.controller.js';
import { FilesController } from './files/files.controller.js';
import { HealthController } from './health/health.controller.js';
import { ModelsController } from './models/models.controller.js';
import { OpenapiController } from './openapi/openapi.controller.js';
import { MetricsController } from './ops/metrics.controller.js';
import { QuoteController } from './quote/quote.controller.js';
import { SubmissionsController } from './submissions/submissions.controller.js';
import { TaskEventsController } from './tasks/task-events.controller.js';
import { TasksController } from './tasks/tasks.controller.js';
import { GeminiController } from './text/gemini.controller.js';
import { MessagesController } from './text/messages.controller.js';
import { ResponsesController } from './text/responses.controller.js';
import { UsageController } from './usage/usage.controller.js';
import { WebhookDeliveriesController } from './webhooks/webhook-deliveries.controller.js';
import { WebhookEndpointsController } from './webhooks/webhook-endpoints.controller.js';

/** Every controller of the API, in the order in which the OpenAPI document shows their routes. */
export const CONTROLLERS = [
  ResponsesController,
  MessagesController,
  GeminiController,
  SubmissionsController,
  QuoteController,
  TasksController,
  TaskEventsController,
  WebhookEndpointsController,
  WebhookDeliveriesController,
  ModelsController,
  BalanceController,
  HealthController,
  FilesController,
  UsageController,
  AccountsController,
  KeysController,
  PricesController,
  UpstreamsController,
  RecordsController,
  AdminTasksController,
  TroublesController,
  FleetController,
  MetricsController,
  OpenapiController,
];
