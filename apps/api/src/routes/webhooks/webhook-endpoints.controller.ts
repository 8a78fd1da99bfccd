import { Controller, Delete, Get, Param, Post, UseGuards } from '@nestjs/common';
import { type Caller, type ShownEndpoint, SigningSecretService, WebhookEndpointsService } from '#features';
import { IsOptional } from 'class-validator';
import { CheckedBody } from '../../checked-input.js';
import { ApiKeyGuard, CurrentCaller } from '../../http/api-key.guard.js';
import { Route, Routes } from '../../http/route.js';
import { seconds } from '../uploads/file-object.js';
import { WEBHOOK_OPERATIONS } from './webhooks.openapi.js';

/** What the endpoints themselves check, they say why. */
export class EndpointBody {
  @IsOptional() url?: unknown;
  @IsOptional() event_types?: unknown;
}

/** Endpoints that get the events of every task of the account, and the secrets that sign them. */
@Controller('v1/webhooks')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'account', scope: 'webhooks' })
export class WebhookEndpointsController {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly signingSecret: SigningSecretService,
  ) {}

  /** Adds an endpoint. Its secret is in this answer and in no other. */
  @Post('endpoints')
  @Route({ operation: WEBHOOK_OPERATIONS.addWebhookEndpoint, cost: 'free' })
  async add(@CurrentCaller() caller: Caller, @CheckedBody(EndpointBody) body: EndpointBody): Promise<object> {
    return endpointView(await this.endpoints.add(caller.accountId, body));
  }

  /** The endpoints of the account, newest first. */
  @Get('endpoints')
  @Route({ operation: WEBHOOK_OPERATIONS.listWebhookEndpoints, cost: 'free' })
  async list(@CurrentCaller() caller: Caller): Promise<object[]> {
    return (await this.endpoints.list(caller.accountId)).map(endpointView);
  }

  /** Removes an endpoint; nothing more is sent to it. */
  @Delete('endpoints/:endpoint_id')
  @Route({ operation: WEBHOOK_OPERATIONS.removeWebhookEndpoint, cost: 'free' })
  async remove(
    @CurrentCaller() caller: Caller,
    @Param('endpoint_id') endpointId: string,
  ): Promise<{ id: string; deleted: true }> {
    await this.endpoints.remove(caller.accountId, endpointId);
    return { id: endpointId, deleted: true };
  }

  /** Makes a new secret; for a day both sign, so that the receiver can change over without missing anything. */
  @Post('endpoints/:endpoint_id/rotate-secret')
  @Route({ operation: WEBHOOK_OPERATIONS.rotateWebhookSecret, cost: 'free' })
  async rotate(@CurrentCaller() caller: Caller, @Param('endpoint_id') endpointId: string): Promise<object> {
    return endpointView(await this.endpoints.rotateSecret(caller.accountId, endpointId));
  }

  /** Sends a test event; the delivery log shows what happened to it. */
  @Post('endpoints/:endpoint_id/test')
  @Route({ operation: WEBHOOK_OPERATIONS.testWebhookEndpoint, cost: 'free' })
  async test(
    @CurrentCaller() caller: Caller,
    @Param('endpoint_id') endpointId: string,
  ): Promise<{ delivery_id: string }> {
    return { delivery_id: await this.endpoints.test(caller.accountId, endpointId) };
  }

  /** The secret that signs webhooks to addresses named in submissions. */
  @Get('signing-secret')
  @Route({ operation: WEBHOOK_OPERATIONS.readSigningSecret, cost: 'free' })
  async secret(@CurrentCaller() caller: Caller): Promise<{ secret: string }> {
    return { secret: await this.signingSecret.read(caller.accountId) };
  }

  /** Makes a new one; for a day both sign. */
  @Post('signing-secret/rotate')
  @Route({ operation: WEBHOOK_OPERATIONS.rotateSigningSecret, cost: 'free' })
  async rotateSigningSecret(@CurrentCaller() caller: Caller): Promise<{ secret: string }> {
    return { secret: await this.signingSecret.rotate(caller.accountId) };
  }
}

/** Its secret is there when it was made just now. */
const endpointView = ({ id, eventTypes, createdAt, ...endpoint }: ShownEndpoint): object => ({
  id,
  object: 'webhook_endpoint',
  ...endpoint,
  event_types: eventTypes,
  created: seconds(createdAt),
});
