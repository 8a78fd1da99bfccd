import { Param, Query } from '@nestjs/common';
import { IsOptional, IsString, Matches } from 'class-validator';
import type { ConsoleWebhookEndpoint } from '#contracts';
import { WEBHOOK_EVENTS, WebhookDeliveriesService, WebhookEndpointsService, type WebhookEndpointView } from '#features';
import { checked, CheckedBody } from '../checked-input.js';
import { AccountId } from '../http/api-key.guard.js';
import { PageRoute, ConsoleRoutes } from './console-routes.js';
import { ConsolePageQuery } from './console-tasks.controller.js';
import { deliveryOf, timeOf } from './views.js';

class DeliveriesQuery extends ConsolePageQuery {
  @IsOptional() @Matches(/^\w{1,100}$/) task_id?: string;
}

/** What the endpoints themselves check, they say why. */
class EndpointBody {
  @IsString() url!: string;
  @IsOptional() event_types?: unknown;
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
    return { items: endpoints.map(toEndpoint), event_types: WEBHOOK_EVENTS };
  }

  @PageRoute('POST /webhooks/endpoints', { cost: 'always' })
  async add(@CheckedBody(EndpointBody) { url, event_types }: EndpointBody, @AccountId() accountId: string) {
    return withSecret(await this.endpoints.add(accountId, { url, event_types }));
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
    const { deliveries, nextCursor } = await this.deliveries.list(accountId, limit, cursor, taskId);
    return { items: deliveries.map(deliveryOf), next_cursor: nextCursor };
  }

  @PageRoute('GET /webhooks/deliveries/:delivery_id')
  async read(@Param('delivery_id') id: string, @AccountId() accountId: string) {
    const delivery = await this.deliveries.read(accountId, id);
    const log = delivery.log.map(({ created, ...attempt }) => ({ ...attempt, created_at: timeOf(created) }));
    return { ...deliveryOf(delivery), log };
  }

  @PageRoute('POST /webhooks/deliveries/:delivery_id/resend', { cost: 'always' })
  async resend(@Param('delivery_id') id: string, @AccountId() accountId: string) {
    return deliveryOf(await this.deliveries.resend(accountId, id));
  }
}

const toEndpoint = ({ id, url, event_types, created }: WebhookEndpointView): ConsoleWebhookEndpoint => ({
  id,
  url,
  event_types,
  created_at: timeOf(created),
});

const withSecret = (view: WebhookEndpointView) => ({ endpoint: toEndpoint(view), secret: view.secret ?? '' });
