import { type DynamicModule, Module } from '@nestjs/common';
import {
  AccessModule,
  AdminModule,
  CancellationModule,
  EventsModule,
  IdempotencyModule,
  LedgerModule,
  LimitsModule,
  OperationsModule,
  PriceList,
  TasksModule,
  TextModule,
  UsageModule,
  WebhooksModule,
} from '#features';
import type { OpenTextProviders } from '#providers';
import { PlatformModule, type Platform } from '#runtime';
import { CONTROLLERS } from './controllers.js';
import { Admission } from './http/admission.js';
import { DECLARED_ROUTES, declaredRoutes } from './http/declared-routes.js';
import { TextAnswers } from './routes/text/text-answers.js';

/** The routes of the API over the features that they hand requests to. */
@Module({
  imports: [
    AccessModule,
    AdminModule,
    CancellationModule,
    EventsModule,
    IdempotencyModule,
    LedgerModule,
    LimitsModule,
    OperationsModule,
    TasksModule,
    UsageModule,
    WebhooksModule,
  ],
  controllers: CONTROLLERS,
  providers: [Admission, PriceList, TextAnswers, { provide: DECLARED_ROUTES, useValue: declaredRoutes(CONTROLLERS) }],
})
export class ApiModule {
  static register(platform: Platform, providers: OpenTextProviders): DynamicModule {
    return { module: ApiModule, imports: [PlatformModule.register(platform), TextModule.over(providers)] };
  }
}
