import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { CallerPresence, type TextOrder, TextService, TextUpstreams } from '#features';
import { callerOf } from '../../http/api-key.guard.js';
import { SerializedBody } from '../../http/serialized-body.js';
import { SANDBOX_HEADER } from '../../sandbox-header.js';
import { StreamWriter } from './stream-writer.js';

/** What a controller knows of a request; the rest comes from the HTTP request itself. */
export type TextDemand<Body> = Omit<TextOrder<Body>, 'requestId' | 'idempotencyKey' | 'caller'>;

/** Makes text answers, whole or streamed. The upstream of a client that leaves is read on for its usage. */
@Injectable()
export class TextAnswers {
  constructor(
    private readonly text: TextService,
    private readonly upstreams: TextUpstreams,
  ) {}

  /**
   * The whole answer; or nothing, after a stream was written to its end or its client left.
   *
   * @throws GatewayError when nothing was written yet.
   */
  async answer<Body>(
    demand: TextDemand<Body>,
    stream: boolean,
    request: Request,
    response: Response,
  ): Promise<SerializedBody | undefined> {
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
      if (!stream) return new SerializedBody(await this.text.answer(order, caller));
      await new StreamWriter(response, await this.text.stream(order, caller), this.text.stallMs).write();
    } catch (error) {
      // Nobody is there to be told of it.
      if (!caller.hasLeft) throw error;
    }
    return undefined;
  }
}
