import { Controller, Get, Param, Post, UseGuards } from '@nestjs/common';
import { wireNames } from '#contracts';
import { type Caller, type ShownAttempt, type ShownDelivery, WebhookDeliveriesService } from '#features';
import { Type } from 'class-transformer';
import { IsOptional, Matches } from 'class-validator';
import { CheckedQuery } from '../../checked-input.js';
import { ApiKeyGuard, CurrentCaller } from '../../http/api-key.guard.js';
import { DataWith } from '../../http/envelope.js';
import { Route, Routes } from '../../http/route.js';
import { IsWhole } from '../../input-fields.js';
import { seconds } from '../uploads/file-object.js';
import { WEBHOOK_OPERATIONS } from './webhooks.openapi.js';

const LIMIT_MAX = 100;
const ID = { message: '$property must be as an earlier answer gave it: letters, digits and _, at most 100' };
const ID_FORM = /^\w{1,100}$/;

/** Which part of the log, and of which task. */
class DeliveryListQuery {
  @Type(() => Number) @IsWhole(1, LIMIT_MAX) limit = 20;

  /** The `next_cursor` of the page before. */
  @IsOptional() @Matches(ID_FORM, ID) cursor?: string;
  @IsOptional() @Matches(ID_FORM, ID) task_id?: string;
}

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
    @CheckedQuery(DeliveryListQuery) query: DeliveryListQuery,
  ): Promise<DataWith<readonly object[]>> {
    const { limit, cursor = null, task_id: taskId = null } = query;
    const { items, nextCursor } = await this.deliveries.list(caller.accountId, limit, cursor, taskId);
    return new DataWith(items.map(deliveryView), { has_more: nextCursor !== null, next_cursor: nextCursor });
  }

  @Get(':delivery_id')
  @Route({ operation: WEBHOOK_OPERATIONS.readWebhookDelivery, cost: 'free' })
  async read(@CurrentCaller() caller: Caller, @Param('delivery_id') deliveryId: string): Promise<object> {
    const { log, ...delivery } = await this.deliveries.read(caller.accountId, deliveryId);
    return { ...deliveryView(delivery), log: log.map(attemptView) };
  }

  /** Sends it again at once, under the same id. */
  @Post(':delivery_id/resend')
  @Route({ operation: WEBHOOK_OPERATIONS.resendWebhookDelivery, cost: 'free' })
  async resend(@CurrentCaller() caller: Caller, @Param('delivery_id') deliveryId: string): Promise<object> {
    return deliveryView(await this.deliveries.resend(caller.accountId, deliveryId));
  }
}

/** Times are Unix seconds here. */
const deliveryView = ({ id, state, createdAt, nextAttemptAt, ...delivery }: ShownDelivery): object => ({
  id,
  object: 'webhook_delivery',
  ...wireNames(delivery),
  status: state,
  created: seconds(createdAt),
  next_attempt: nextAttemptAt && seconds(nextAttemptAt),
});

const attemptView = ({ createdAt, ...attempt }: ShownAttempt): object => ({
  ...wireNames(attempt),
  created: seconds(createdAt),
});
