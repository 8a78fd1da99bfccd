import { Controller, Get, HttpCode, Param, Post, Query, UseGuards } from '@nestjs/common';
import { GatewayError } from '#contracts';
import { type Caller, type WebhookDeliveryView, WebhookDeliveriesService } from '#features';
import { ApiKeyGuard, CurrentCaller } from '../../http/api-key.guard.js';
import { DataWith } from '../../http/envelope.js';
import { Route, Routes } from '../../http/route.js';
import { WEBHOOK_OPERATIONS } from './webhooks.openapi.js';

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;

/** What was sent to webhooks, and sending it again. */
@Controller('v1/webhooks/deliveries')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'account', scope: 'webhooks' })
export class WebhookDeliveriesController {
  constructor(private readonly deliveries: WebhookDeliveriesService) {}

  /** The delivery log, newest first: `limit`, `cursor`, `task_id`. */
  @Get()
  @Route({ operation: WEBHOOK_OPERATIONS.listWebhookDeliveries, cost: 'free' })
  async list(
    @CurrentCaller() caller: Caller,
    @Query() query: Record<string, unknown>,
  ): Promise<DataWith<readonly WebhookDeliveryView[]>> {
    const { deliveries, nextCursor } = await this.deliveries.list(
      caller.accountId,
      readLimit(query['limit']),
      readId('cursor', query['cursor']),
      readId('task_id', query['task_id']),
    );
    return new DataWith(deliveries, { has_more: nextCursor !== null, next_cursor: nextCursor });
  }

  /** One delivery with all its attempts. */
  @Get(':delivery_id')
  @Route({ operation: WEBHOOK_OPERATIONS.readWebhookDelivery })
  async read(@CurrentCaller() caller: Caller, @Param('delivery_id') deliveryId: string): Promise<WebhookDeliveryView> {
    return this.deliveries.read(caller.accountId, deliveryId);
  }

  /** Sends it again at once, under the same id. */
  @Post(':delivery_id/resend')
  @Route({ operation: WEBHOOK_OPERATIONS.resendWebhookDelivery, cost: 'free' })
  @HttpCode(200)
  async resend(
    @CurrentCaller() caller: Caller,
    @Param('delivery_id') deliveryId: string,
  ): Promise<WebhookDeliveryView> {
    return this.deliveries.resend(caller.accountId, deliveryId);
  }
}

function readLimit(given: unknown): number {
  if (given === undefined) return LIMIT_DEFAULT;
  const limit = typeof given === 'string' && /^\d{1,3}$/.test(given) ? Number(given) : 0;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new GatewayError('invalid_parameter', `limit must be a whole number from 1 to ${LIMIT_MAX}.`, {
    param: 'limit',
  });
}

function readId(param: string, given: unknown): string | null {
  if (given === undefined) return null;
  if (typeof given === 'string' && /^\w{1,100}$/.test(given)) return given;
  const message = `${param} must be given once, as an earlier answer gave it: letters, digits and _, at most 100.`;
  throw new GatewayError('invalid_parameter', message, { param });
}
