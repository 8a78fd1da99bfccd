import { GatewayError } from '#contracts';
import { type Caller, SigningSecretService, type WebhookEndpointView, WebhookEndpointsService } from '#features';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, CurrentCaller } from '../door/api-key.guard.js';
import { NeedsScope } from '../door/needs-scope.js';
import { Metered } from '../door/metered.js';

interface Answer<Data> {
  readonly code: 200;
  readonly data: Data;
}

const answer = <Data>(data: Data): Answer<Data> => ({ code: 200, data });

/** Endpoints that are told about every task of the account, and the secrets that sign what they get. */
@Controller('v1/webhooks')
@UseGuards(ApiKeyGuard)
@NeedsScope('webhooks')
export class WebhookEndpointsController {
  constructor(
    private readonly endpoints: WebhookEndpointsService,
    private readonly signingSecret: SigningSecretService,
  ) {}

  /** Adds an endpoint. Its secret is in this answer and in no other. */
  @Post('endpoints')
  @Metered('free')
  @HttpCode(200)
  async add(@CurrentCaller() caller: Caller, @Body() body: unknown): Promise<Answer<WebhookEndpointView>> {
    return answer(await this.endpoints.add(caller.accountId, readInput(body)));
  }

  /** The endpoints of the account, newest first. */
  @Get('endpoints')
  @Metered('free')
  async list(@CurrentCaller() caller: Caller): Promise<Answer<WebhookEndpointView[]>> {
    return answer(await this.endpoints.list(caller.accountId));
  }

  /** Removes an endpoint; nothing more is sent to it. */
  @Delete('endpoints/:endpoint_id')
  @Metered('free')
  async remove(
    @CurrentCaller() caller: Caller,
    @Param('endpoint_id') endpointId: string,
  ): Promise<Answer<{ id: string; deleted: true }>> {
    await this.endpoints.remove(caller.accountId, endpointId);
    return answer({ id: endpointId, deleted: true });
  }

  /** Makes a new secret; for a day both sign, so that the receiver can change over without missing anything. */
  @Post('endpoints/:endpoint_id/rotate-secret')
  @Metered('free')
  @HttpCode(200)
  async rotate(
    @CurrentCaller() caller: Caller,
    @Param('endpoint_id') endpointId: string,
  ): Promise<Answer<WebhookEndpointView>> {
    return answer(await this.endpoints.rotateSecret(caller.accountId, endpointId));
  }

  /** Sends a test event; the delivery log tells what became of it. */
  @Post('endpoints/:endpoint_id/test')
  @Metered('free')
  @HttpCode(200)
  async test(
    @CurrentCaller() caller: Caller,
    @Param('endpoint_id') endpointId: string,
  ): Promise<Answer<{ delivery_id: string }>> {
    return answer({ delivery_id: await this.endpoints.test(caller.accountId, endpointId) });
  }

  /** The secret that signs webhooks to addresses named in submissions. */
  @Get('signing-secret')
  async secret(@CurrentCaller() caller: Caller): Promise<Answer<{ secret: string }>> {
    return answer({ secret: await this.signingSecret.read(caller.accountId) });
  }

  /** Makes a new one; for a day both sign. */
  @Post('signing-secret/rotate')
  @Metered('free')
  @HttpCode(200)
  async rotateSigningSecret(@CurrentCaller() caller: Caller): Promise<Answer<{ secret: string }>> {
    return answer({ secret: await this.signingSecret.rotate(caller.accountId) });
  }
}

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
