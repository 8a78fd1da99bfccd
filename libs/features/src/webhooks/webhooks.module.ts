import { Module } from '@nestjs/common';
import { SigningSecretService } from './signing-secret.service.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';

const SERVICES = [SigningSecretService, WebhookDeliveriesService, WebhookEndpointsService];

/** Where accounts want to be told about their tasks, and what was told. Needs the LimitsModule, which is global. */
@Module({ providers: SERVICES, exports: SERVICES })
export class WebhooksModule {}
