import { CallerPresence, type TextOrder, TextService, TextUpstreams } from '#features';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { callerOf } from '../door/api-key.guard.js';
import { SANDBOX_HEADER } from '../sandbox-header.js';
import { sendJson } from '../send-json.js';
import { StreamWriter } from './stream-writer.js';

/** What a controller knows of a request; the rest comes from the HTTP request itself. */
export type TextDemand<Body> = Omit<TextOrder<Body>, 'requestId' | 'idempotencyKey' | 'caller'>;

/** Sends text answers over HTTP, whole or streamed. The upstream of a client that leaves is read on for its usage. */
@Injectable()
export class TextAnswers {
  constructor(
    private readonly text: TextService,
    private readonly upstreams: TextUpstreams,
  ) {}

  /** @throws GatewayError when nothing was written yet. */
  async send<Body>(demand: TextDemand<Body>, stream: boolean, request: Request, response: Response): Promise<void> {
    const caller = new CallerPresence();
    response.once('close', () => {
      // A request that may be repeated is finished all the same: the repeat gets its answer.
      if (!response.writableFinished && (stream || !request.attempt)) caller.leave();
    });
    const order: TextOrder<Body> = {
      requestId: request.requestId,
      idempotencyKey: request.attempt?.key,
      caller: callerOf(request),
      ...demand,
    };
    if (this.upstreams.isSandbox) response.setHeader(SANDBOX_HEADER, 'true');
    try {
      if (stream) await new StreamWriter(response, await this.text.stream(order, caller), this.text.stallMs).write();
      else sendJson(response, await this.text.answer(order, caller));
    } catch (error) {
      if (!caller.hasLeft) throw error;
      // Nobody is there to be told, but whoever follows the response learns that its work is over.
      response.end();
    }
  }
}
