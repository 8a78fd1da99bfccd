import { AccountsController } from './routes/admin/accounts.controller.js';
import { FleetController } from './routes/admin/fleet.controller.js';
import { KeysController } from './routes/admin/keys.controller.js';
import { PricesController } from './routes/admin/prices.controller.js';
import { RecordsController } from './routes/admin/records.controller.js';
import { AdminTasksController } from './routes/admin/tasks.controller.js';
import { TroublesController } from './routes/admin/troubles.controller.js';
import { UpstreamsController } from './routes/admin/upstreams.controller.js';
import { BalanceController } from './routes/balance/balance.controller.js';
import { FilesController } from './routes/files/files.controller.js';
import { HealthController } from './routes/health/health.controller.js';
import { ModelsController } from './routes/models/models.controller.js';
import { OpenapiController } from './openapi/openapi.controller.js';
import { MetricsController } from './routes/ops/metrics.controller.js';
import { QuoteController } from './routes/quote/quote.controller.js';
import { SubmissionsController } from './routes/generations/submissions.controller.js';
import { TaskEventsController } from './routes/tasks/task-events.controller.js';
import { TasksController } from './routes/tasks/tasks.controller.js';
import { GeminiController } from './routes/text/gemini.controller.js';
import { MessagesController } from './routes/text/messages.controller.js';
import { ResponsesController } from './routes/text/responses.controller.js';
import { UsageController } from './routes/usage/usage.controller.js';
import { WebhookDeliveriesController } from './routes/webhooks/webhook-deliveries.controller.js';
import { WebhookEndpointsController } from './routes/webhooks/webhook-endpoints.controller.js';

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
