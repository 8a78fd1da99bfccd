import { Database, PLATFORM, type Platform } from '#platform';
import { Module } from '@nestjs/common';
import { SigningSecretService } from './signing-secret.service.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

/** Where accounts want to be told about their tasks, and what was told. */
@Module({
  providers: [
    {
      provide: WebhookEndpointsService,
      inject: [PLATFORM],
      useFactory: ({ database, fetcher, sealer }: Platform) => new WebhookEndpointsService(database, fetcher, sealer),
    },
    {
      provide: SigningSecretService,
      inject: [PLATFORM],
      useFactory: ({ database, sealer }: Platform) => new SigningSecretService(database, sealer),
    },
    {
      provide: WebhookDeliveriesService,
      inject: [Database],
      useFactory: (database: Database) => new WebhookDeliveriesService(database),
    },
  ],
  exports: [WebhookEndpointsService, SigningSecretService, WebhookDeliveriesService],
})
export class WebhooksModule {}
