import { Module } from '@nestjs/common';
import { Database } from '#platform';
import { PLATFORM, type Platform } from '#runtime';
import { AccountRate } from '../limits/account-rate.js';
import { SigningSecretService } from './signing-secret.service.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

/** Where accounts want to be told about their tasks, and what was told. */
@Module({
  providers: [
    {
      provide: WebhookEndpointsService,
      inject: [PLATFORM, AccountRate],
      useFactory: ({ database, fetcher, sealer }: Platform, rate: AccountRate) =>
        new WebhookEndpointsService(database, fetcher, sealer, rate),
    },
    {
      provide: SigningSecretService,
      inject: [PLATFORM],
      useFactory: ({ database, sealer }: Platform) => new SigningSecretService(database, sealer),
    },
    {
      provide: WebhookDeliveriesService,
      inject: [Database, AccountRate],
      useFactory: (database: Database, rate: AccountRate) => new WebhookDeliveriesService(database, rate),
    },
  ],
  exports: [WebhookEndpointsService, SigningSecretService, WebhookDeliveriesService],
})
export class WebhooksModule {}
