import { Module } from '@nestjs/common';
import { SigningSecretService } from './webhook-signers.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

const SERVICES = [SigningSecretService, WebhookDeliveriesService, WebhookEndpointsService];

/** Webhook endpoints of accounts and their deliveries. Needs the LimitsModule, which is global. */
@Module({ providers: SERVICES, exports: SERVICES })
export class WebhooksModule {}
