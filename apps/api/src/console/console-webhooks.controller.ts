import { Param, Query } from '@nestjs/common';
import { IsOptional, Matches } from 'class-validator';
import type { ConsoleDeliveryAttempt, ConsoleWebhookEndpoint } from '#contracts';
import { WEBHOOK_EVENTS, WebhookDeliveriesService, WebhookEndpointsService } from '#features';
import { checked, CheckedBody } from '../checked-input.js';
import { AccountId } from '../http/api-key.guard.js';
import { EndpointBody } from '../routes/webhooks/webhook-endpoints.controller.js';
import { PageRoute, ConsoleRoutes } from './console-routes.js';
import { ConsolePageQuery } from './console-tasks.controller.js';
import { deliveryOf, rowOf } from './views.js';

class DeliveriesQuery extends ConsolePageQuery {
  @IsOptional() @Matches(/^\w{1,100}$/) task_id?: string;
}

/** Where webhooks of the account go, and what was sent there. */
@ConsoleRoutes()
export class ConsoleWebhooksController {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly deliveries: WebhookDeliveriesService,
  ) {}

  @PageRoute('GET /webhooks/endpoints')
  async list(@AccountId() accountId: string) {
    const endpoints = await this.endpoints.list(accountId);
    return { items: endpoints.map(rowOf<ConsoleWebhookEndpoint>), event_types: WEBHOOK_EVENTS };
  }

  @PageRoute('POST /webhooks/endpoints', { cost: 'always' })
  async add(@CheckedBody(EndpointBody) body: EndpointBody, @AccountId() accountId: string) {
    return withSecret(await this.endpoints.add(accountId, body));
  }

  @PageRoute('POST /webhooks/endpoints/:endpoint_id/remove', { cost: 'always' })
  async remove(@Param('endpoint_id') id: string, @AccountId() accountId: string) {
    await this.endpoints.remove(accountId, id);
    return { id, removed: true as const };
  }

  @PageRoute('POST /webhooks/endpoints/:endpoint_id/rotate-secret', { cost: 'always' })
  async rotate(@Param('endpoint_id') id: string, @AccountId() accountId: string) {
    return withSecret(await this.endpoints.rotateSecret(accountId, id));
  }

  @PageRoute('POST /webhooks/endpoints/:endpoint_id/test', { cost: 'always' })
  async test(@Param('endpoint_id') id: string, @AccountId() accountId: string) {
    return { delivery_id: await this.endpoints.test(accountId, id) };
  }

  @PageRoute('GET /webhooks/deliveries')
  async log(@Query() query: unknown, @AccountId() accountId: string) {
    const { limit, cursor = null, task_id: taskId = null } = checked(DeliveriesQuery, query);
    const { items, nextCursor } = await this.deliveries.list(accountId, limit, cursor, taskId);
    return { items: items.map(deliveryOf), next_cursor: nextCursor };
  }

  @PageRoute('GET /webhooks/deliveries/:delivery_id')
  async read(@Param('delivery_id') id: string, @AccountId() accountId: string) {
    const { log, ...delivery } = await this.deliveries.read(accountId, id);
    return { ...deliveryOf(delivery), log: log.map(rowOf<ConsoleDeliveryAttempt>) };
  }

  @PageRoute('POST /webhooks/deliveries/:delivery_id/resend', { cost: 'always' })
  async resend(@Param('delivery_id') id: string, @AccountId() accountId: string) {
    return deliveryOf(await this.deliveries.resend(accountId, id));
  }
}

const withSecret = ({ secret, ...endpoint }: { readonly secret: string }) => ({
  endpoint: rowOf<ConsoleWebhookEndpoint>(endpoint),
  secret,
});
