import { type Attempt, type Beginning, IdempotencyService, RENEW_EVERY_MS } from '#features';
import { logger } from '#platform';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { finalize, NEVER, type Observable } from 'rxjs';
import { submitted } from '../submitted.js';
import { Admission } from './admission.js';
import { beforeEnd, type LeavingAnswer } from './answer-capture.js';
import { Metered, type MeteredKind } from './metered.js';

const log = logger('idempotency');

/** How long after its work an answer may take to begin its end, in milliseconds. */
const ENDING_MS = 2_000;
const UNENDED: LeavingAnswer = { status: 200, contentType: '', body: null };

declare module 'express-serve-static-core' {
  interface Request {
    /** Set on a request that may be repeated: its work goes on when the client leaves, so that a repeat finds it. */
    attempt?: Attempt;
  }
}

/**
 * Obeys `Idempotency-Key` on every request that costs (design section 5): the same body again gets the same answer and
 * `Idempotent-Replayed: true`, another body is refused, and so is a repeat while the first is at work. Limits are asked
 * only when there is work to do: an answer that was paid for is given again to a key over its limit too.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly records: IdempotencyService,
    private readonly admission: Admission,
    private readonly reflector: Reflector,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    const kind = this.reflector.get(Metered, context.getHandler());
    const { caller } = request;
    if (kind === undefined || !caller) return next.handle();
    const key = request.get('idempotency-key');
    if (key === undefined || kind === 'free') {
      await this.admission.admit(kind, caller, response);
      return next.handle();
    }
    const beginning = await this.records.begin({
      accountId: caller.accountId,
      key,
      path: request.path,
      body: request.rawBody ?? JSON.stringify(request.body ?? null),
      requestId: request.requestId,
    });
    if (beginning.kind === 'replay') return replay(response, beginning);
    const following = this.follow(kind, beginning.attempt, request, response);
    if (beginning.kind === 'resume' && beginning.task) {
      response.status(200).json(submitted(beginning.task));
      return NEVER;
    }
    await this.admission.admit(kind, caller, response);
    return next.handle().pipe(finalize(following.workEnded));
  }

  /** Keeps the right to work while the request runs, and notes how it ended before the client hears of it. */
  private follow(
    kind: MeteredKind,
    attempt: Attempt,
    request: Request,
    response: Response,
  ): { readonly workEnded: () => void } {
    request.attempt = attempt;
    request.requestId = attempt.requestId;
    response.setHeader('x-request-id', attempt.requestId);
    response.setHeader('request-id', attempt.requestId);
    let noted = false;
    const renewal = setInterval(() => {
      this.records.renew(attempt).catch((error: unknown) => log.warn('key.not_renewed', { error }));
    }, RENEW_EVERY_MS);
    const noteOnce = async (answer: LeavingAnswer): Promise<void> => {
      clearInterval(renewal);
      if (noted) return;
      noted = true;
      await this.note(attempt, answer, kind === 'task').catch((error: unknown) =>
        log.error('answer.not_kept', { error }),
      );
    };
    beforeEnd(response, noteOnce);
    // A stream whose client left is never ended: its key is used up, because what went out was charged.
    const workEnded = (): void => void setTimeout(() => void noteOnce(UNENDED), ENDING_MS).unref();
    return { workEnded };
  }

  /**
   * Refusals free the key, since nothing happened. After an error of ours a task may have been written all the same:
   * the next attempt looks. A text request was settled by then, so it starts anew. A key that an earlier attempt used is
   * never freed: that one may still wake up, or have paid.
   */
  private async note(attempt: Attempt, { status, contentType, body }: LeavingAnswer, isTask: boolean): Promise<void> {
    if (status < 400) await this.records.finish(attempt, status, contentType, body);
    else if (attempt.resumed || (status >= 500 && isTask)) await this.records.unlock(attempt);
    else await this.records.forget(attempt);
  }
}

function replay(response: Response, { answer }: Extract<Beginning, { kind: 'replay' }>): Observable<never> {
  response.setHeader('idempotent-replayed', 'true');
  response.setHeader('content-type', answer.contentType);
  response.status(answer.status).end(answer.body);
  // The answer is out; nothing must be sent after it.
  return NEVER;
}
