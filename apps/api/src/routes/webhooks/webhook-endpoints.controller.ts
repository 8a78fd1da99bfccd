import { Body, Controller, Delete, Get, Param, Post, UseGuards } from '@nestjs/common';
import { GatewayError } from '#contracts';
import { type Caller, type ShownEndpoint, SigningSecretService, WebhookEndpointsService } from '#features';
import { ApiKeyGuard, CurrentCaller } from '../../http/api-key.guard.js';
import { Route, Routes } from '../../http/route.js';
import { seconds } from '../uploads/file-object.js';
import { WEBHOOK_OPERATIONS } from './webhooks.openapi.js';

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
  async add(@CurrentCaller() caller: Caller, @Body() body: unknown): Promise<object> {
    return endpointView(await this.endpoints.add(caller.accountId, readInput(body)));
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

const FIELDS = ['url', 'event_types'];

function readInput(body: unknown): { url: unknown; event_types: unknown } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new GatewayError('invalid_parameter', 'The body must be a JSON object.');
  }
  const unknown = Object.keys(body).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) {
    const param = unknown.slice(0, 64);
    throw new GatewayError('unknown_parameter', `${param} is not a field of an endpoint: ${FIELDS.join(', ')}.`, {
      param,
    });
  }
  return {
    url: 'url' in body ? body.url : undefined,
    event_types: 'event_types' in body ? body.event_types : undefined,
  };
}
