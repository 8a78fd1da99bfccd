import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { GatewayError } from '#contracts';
import {
  attributionOf,
  type Caller,
  type CheckedText,
  type ClientConnection,
  PromptLogWriter,
  RunningTexts,
  TextRequestContext,
  TextService,
  TextUpstreams,
} from '#features';
import { PLATFORM, type Platform } from '#runtime';
import { ALLOWED_EVERY_MS, callerOf, isRefusal } from '../../http/api-key.guard.js';
import { expectClient } from '../../http/client-gone.js';
import { IdempotentRequests } from '../../http/idempotent-requests.js';
import { isStreamed, keepAlive } from '../../http/keep-alive.js';
import { MemoryReservations } from '../../http/memory-reservations.js';
import { SerializedBody } from '../../http/serialized-body.js';
import { SANDBOX_HEADER } from '../../http/response-headers.middleware.js';
import { StreamWriter } from './stream-writer.js';

/** Names the tools that were offered and that the upstream of the answer was asked without. */
const TOOLS_LEFT_OUT_HEADER = 'x-gateway-tools-left-out';

/** How often a vendor may be asked to go on with a reply that it left unfinished. */
const CONTINUE_HEADER = 'x-gateway-continue';
const CONTINUATIONS_MAX = 8;

/** @throws GatewayError `invalid_parameter`. */
function continuationsIn({ headers }: Request): number {
  const said = headers[CONTINUE_HEADER] ?? '0';
  if (typeof said === 'string' && /^\d$/.test(said) && Number(said) <= CONTINUATIONS_MAX) return Number(said);
  const message = `The header ${CONTINUE_HEADER} must be a whole number from 0 to ${CONTINUATIONS_MAX}.`;
  throw new GatewayError('invalid_parameter', message, { param: CONTINUE_HEADER });
}

/** Makes text answers, whole or streamed. The upstream of a client that leaves is read on for its usage. */
@Injectable()
export class TextAnswers {
  private readonly keptAliveAfterMs: number;

  constructor(
    private readonly idempotent: IdempotentRequests,
    private readonly text: TextService,
    private readonly upstreams: TextUpstreams,
    private readonly memory: MemoryReservations,
    private readonly running: RunningTexts,
    private readonly prompts: PromptLogWriter,
    @Inject(PLATFORM) { config }: Platform,
  ) {
    this.keptAliveAfterMs = config.server.WHOLE_REPLY_KEEPALIVE_SECONDS * 1000;
  }

  /**
   * The whole answer; or nothing, after a stream was written to its end or its client left.
   *
   * @param check reads the request and checks it.
   * @throws GatewayError when nothing was written yet.
   */
  answer<Body>(
    request: Request,
    response: Response,
    check: () => Promise<CheckedText<Body>>,
  ): Promise<SerializedBody | undefined> {
    const stop = keepAlive(response, isStreamed(request) ? 0 : this.keptAliveAfterMs);
    return this.idempotent
      .answer(request, response, () =>
        duringText(this.running, request, response, (client) => this.make(check, client, request, response)),
      )
      .finally(stop);
  }

  private async make<Body>(
    check: () => Promise<CheckedText<Body>>,
    client: ClientConnection,
    request: Request,
    response: Response,
  ): Promise<SerializedBody | undefined> {
    const checked = await check();
    // A request that may be repeated is finished all the same: the repeat gets its answer.
    const mayLeave = checked.stream || !(request.attempt ?? request.repeatable);
    if (mayLeave) expectClient(response);
    response.once('close', () => {
      if (!response.writableFinished && mayLeave) client.leave();
    });
    const caller = callerOf(request);
    const setHeader = (name: string, value: string): void => {
      // A heartbeat may have begun the answer.
      if (!response.headersSent) response.setHeader(name, value);
    };
    const context = new TextRequestContext(checked, {
      requestId: request.requestId,
      idempotencyKey: request.attempt?.key,
      caller,
      client,
      attribution: attributionOf(request.headers, checked.sentBody, caller),
      continuations: continuationsIn(request),
      reserve: this.memory.reserverFor(response, caller.accountId),
      onToolsLeftOut: (names) => setHeader(TOOLS_LEFT_OUT_HEADER, names.join(', ')),
      onHeader: setHeader,
    });
    if (this.upstreams.isSandbox && !response.headersSent) response.setHeader(SANDBOX_HEADER, 'true');
    try {
      if (!checked.stream) {
        const json = await this.text.answer(context);
        return new SerializedBody(checked.complete ? await checked.complete(json) : json);
      }
      await new StreamWriter(response, await this.text.stream(context), this.text.stallMs).write();
    } catch (error) {
      // The client has left: no response can be sent.
      if (!client.hasLeft) throw error;
    } finally {
      // What is refused costs nothing, and so must not make work either.
      if (caller.isLogged === true && client.hasAsked) this.keep(context, caller);
    }
    return undefined;
  }

  private keep(context: TextRequestContext<unknown>, { accountId, apiKeyId }: Caller): void {
    const { requestId, checked, origin } = context;
    const session = origin.attribution?.session;
    const { model, sentBody: body } = checked;
    const answer = context.words?.() ?? '';
    this.prompts.add({ accountId, requestId, apiKeyId, model, session, body, answer });
  }
}

/**
 * Does the work of one text request, which counts as running until its answer has left.
 *
 * @throws GatewayError why it was ended: by the process, or with the key or session that it came with.
 */
export async function duringText<Result>(
  running: RunningTexts,
  request: Request,
  response: Response,
  work: (client: ClientConnection) => Promise<Result>,
): Promise<Result> {
  const client = running.begin(callerOf(request).accountId);
  const refuse = (error: unknown): void => {
    if (isRefusal(error)) client.refuse(error, isStreamed(request));
  };
  const asking = setInterval(() => void request.expectStillAllowed?.().catch(refuse), ALLOWED_EVERY_MS);
  try {
    return await work(client);
  } catch (error) {
    throw client.endedBy ?? error;
  } finally {
    clearInterval(asking);
    if (response.closed) running.over(client);
    else response.once('close', () => running.over(client));
  }
}

/** @throws GatewayError `invalid_parameter` when the output limit stands there under two of its names. */
export function expectOneLimit<Name extends string>(
  body: Partial<Record<Name, unknown>>,
  names: readonly Name[],
): void {
  const [first, second] = names.filter((name) => body[name] != null);
  if (first === undefined || second === undefined) return;
  throw new GatewayError('invalid_parameter', `${first} and ${second} are two names of one limit; send one of them.`, {
    param: second,
  });
}
