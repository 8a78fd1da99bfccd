import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type CallerPresence, RunningTexts, type TextOrder, TextService, TextUpstreams } from '#features';
import { PLATFORM, type Platform } from '#runtime';
import { callerOf } from '../../http/api-key.guard.js';
import { expectClient } from '../../http/expect-client.js';
import { IdempotentRequests, isStreamed } from '../../http/idempotent-requests.js';
import { keepAlive } from '../../http/keep-alive.js';
import { MemoryReservations } from '../../http/memory-reservations.js';
import { SerializedBody } from '../../http/serialized-body.js';
import { SANDBOX_HEADER } from '../../sandbox-header.js';
import { StreamWriter } from './stream-writer.js';

/** What a controller knows about a request; the rest comes from the HTTP request itself. */
export interface TextDemand<Body> extends Omit<
  TextOrder<Body>,
  'requestId' | 'idempotencyKey' | 'caller' | 'reserve' | 'onToolsLeftOut'
> {
  /** Whether the answer is streamed. */
  readonly stream: boolean;
  /** Makes the whole answer of what the style writes, where that is but a part of it. */
  readonly complete?: (json: string) => Promise<readonly Buffer[]>;
}

/** Names the tools that were offered and that the upstream of the answer was asked without. */
const TOOLS_LEFT_OUT_HEADER = 'x-gateway-tools-left-out';

/** Makes text answers, whole or streamed. The upstream of a client that leaves is read on for its usage. */
@Injectable()
export class TextAnswers {
  readonly #keptAliveAfterMs: number;

  constructor(
    private readonly idempotent: IdempotentRequests,
    private readonly text: TextService,
    private readonly upstreams: TextUpstreams,
    private readonly memory: MemoryReservations,
    private readonly running: RunningTexts,
    @Inject(PLATFORM) { config }: Platform,
  ) {
    this.#keptAliveAfterMs = config.server.WHOLE_REPLY_KEEPALIVE_SECONDS * 1000;
  }

  /**
   * The whole answer; or nothing, after a stream was written to its end or its client left.
   *
   * @param readDemand checks the request.
   * @throws GatewayError when nothing was written yet.
   */
  answer<Body>(
    request: Request,
    response: Response,
    readDemand: () => Promise<TextDemand<Body>>,
  ): Promise<SerializedBody | undefined> {
    const stop = keepAlive(response, isStreamed(request) ? 0 : this.#keptAliveAfterMs);
    return this.idempotent
      .answer(request, response, () =>
        duringText(this.running, request, response, (caller) => this.make(readDemand, caller, request, response)),
      )
      .finally(stop);
  }

  private async make<Body>(
    readDemand: () => Promise<TextDemand<Body>>,
    caller: CallerPresence,
    request: Request,
    response: Response,
  ): Promise<SerializedBody | undefined> {
    const demand = await readDemand();
    const { stream, complete } = demand;
    // A request that may be repeated is finished all the same: the repeat gets its answer.
    const mayLeave = stream || !request.attempt;
    if (mayLeave) expectClient(response);
    response.once('close', () => {
      if (!response.writableFinished && mayLeave) caller.leave();
    });
    const payer = callerOf(request);
    const order: TextOrder<Body> = {
      requestId: request.requestId,
      idempotencyKey: request.attempt?.key,
      caller: payer,
      reserve: this.memory.reserverFor(response, payer.accountId),
      onToolsLeftOut: (names) => {
        // A heartbeat may have begun the answer.
        if (!response.headersSent) response.setHeader(TOOLS_LEFT_OUT_HEADER, names.join(', '));
      },
      ...demand,
    };
    if (this.upstreams.isSandbox && !response.headersSent) response.setHeader(SANDBOX_HEADER, 'true');
    try {
      if (!stream) {
        const json = await this.text.answer(order, caller);
        return new SerializedBody(complete ? await complete(json) : json);
      }
      await new StreamWriter(response, await this.text.stream(order, caller), this.text.stallMs).write();
    } catch (error) {
      // The client has left: no response can be sent.
      if (!caller.hasLeft) throw error;
    }
    return undefined;
  }
}

/** Does the work of one text request, which counts as running until its answer has left. @throws GatewayError why the process ended it. */
export async function duringText<Result>(
  running: RunningTexts,
  request: Request,
  response: Response,
  work: (caller: CallerPresence) => Promise<Result>,
): Promise<Result> {
  const caller = running.begin(callerOf(request).accountId);
  try {
    return await work(caller);
  } catch (error) {
    throw caller.endedBy ?? error;
  } finally {
    if (response.closed) running.over(caller);
    else response.once('close', () => running.over(caller));
  }
}
