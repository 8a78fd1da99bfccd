import { type TextOrder, TextService } from '#features';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { callerOf } from '../door/api-key.guard.js';
import { sendJson } from '../send-json.js';
import { StreamWriter } from './stream-writer.js';

/** What a controller knows of a request; the rest comes from the HTTP request itself. */
export type TextDemand<Body> = Omit<TextOrder<Body>, 'requestId' | 'idempotencyKey' | 'caller'>;

/** Sends text answers over HTTP, whole or streamed. A client that leaves aborts the upstream. */
@Injectable()
export class TextAnswers {
  constructor(private readonly text: TextService) {}

  /** @throws GatewayError when nothing was written yet. */
  async send<Body>(demand: TextDemand<Body>, stream: boolean, request: Request, response: Response): Promise<void> {
    const leaving = new AbortController();
    response.once('close', () => {
      // A request that may be repeated is finished all the same: the repeat gets its answer.
      if (!response.writableFinished && (stream || !request.attempt)) leaving.abort();
    });
    const order: TextOrder<Body> = {
      requestId: request.requestId,
      idempotencyKey: request.attempt?.key,
      caller: callerOf(request),
      ...demand,
    };
    try {
      if (stream) await new StreamWriter(response, await this.text.stream(order, leaving.signal)).write();
      else sendJson(response, await this.text.answer(order, leaving.signal));
    } catch (error) {
      if (!leaving.signal.aborted) throw error;
      // Nobody is there to be told, but whoever follows the response learns that its work is over.
      response.end();
    }
  }
}
