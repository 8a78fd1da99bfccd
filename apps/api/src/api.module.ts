import { BalanceView, KeyFacts } from './console/views.js';
import { type DynamicModule, Module } from '@nestjs/common';
import {
  AccessModule,
  AdminModule,
  FileSearchModule,
  IdempotencyModule,
  LedgerModule,
  LimitsModule,
  MediaCircuits,
  MediaModule,
  OperationsModule,
  PriceList,
  SessionsModule,
  TasksModule,
  TextModule,
  UsageModule,
  WebhooksModule,
} from '#features';
import type { OpenMediaUpstreams, OpenTextUpstreams } from '#providers';
import { type Platform, PlatformModule } from '#runtime';
import { NewSessions } from './console/session-cookie.js';
import { SessionSerializer } from './console/session-serializer.js';
import { ConsoleTaskHistory } from './console/console-task-history.js';
import { TaskStream } from './console/task-stream.js';
import { CONTROLLERS, MOST_ASKED } from './controllers.js';
import { Admission } from './http/admission.js';
import { BodyBudget } from './http/body-budget.js';
import { DECLARED_ROUTES, declaredRoutes } from './http/declared-routes.js';
import { IdempotentRequests } from './http/idempotent-requests.js';
import { MemoryReservations } from './http/memory-reservations.js';
import { KnownModels, ModelViews } from './routes/models/known-models.js';
import { Quotes } from './routes/quote/quotes.js';
import { ChatController } from './routes/text/chat.controller.js';
import { MessagesController } from './routes/text/messages.controller.js';
import { ResponsesController } from './routes/text/responses.controller.js';
import { TextAnswers } from './routes/text/text-answers.js';
import { Upstreams } from './upstreams.js';

const MIB = 1024 * 1024;

/** The routes of the API, and the features that they call. */
@Module({
  imports: [
    AccessModule,
    AdminModule,
    FileSearchModule,
    IdempotencyModule,
    LedgerModule,
    LimitsModule,
    OperationsModule,
    SessionsModule,
    TasksModule,
    UsageModule,
    WebhooksModule,
  ],
  // The router tries the routes in this order.
  controllers: [...new Set([...MOST_ASKED, ...CONTROLLERS])],
  providers: [
    Admission,
    BalanceView,
    // The console hands its text requests to them.
    ChatController,
    MessagesController,
    ResponsesController,
    IdempotentRequests,
    KeyFacts,
    KnownModels,
    ModelViews,
    NewSessions,
    PriceList,
    Quotes,
    SessionSerializer,
    MemoryReservations,
    ConsoleTaskHistory,
    TaskStream,
    TextAnswers,
    MediaCircuits,
    Upstreams,
    { provide: DECLARED_ROUTES, useValue: declaredRoutes(CONTROLLERS) },
  ],
})
export class ApiModule {
  static register(platform: Platform, text: OpenTextUpstreams, media: OpenMediaUpstreams): DynamicModule {
    const { BODY_LIMIT_MB, BODY_MEMORY_MB } = platform.config.server;
    const budget = new BodyBudget(BODY_MEMORY_MB * MIB, BODY_LIMIT_MB * MIB);
    const imports = [PlatformModule.register(platform), MediaModule.register(media), TextModule.register(text)];
    return { module: ApiModule, imports, providers: [{ provide: BodyBudget, useValue: budget }] };
  }
}
