import { type Attempt, type Beginning, IdempotencyService, onlyOwnKey, RENEW_EVERY_MS } from '#features';
import { logger } from '#platform';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { submitted } from '../submissions/submitted.js';
import { Admission } from './admission.js';
import { callerOf } from './api-key.guard.js';
import { beforeEnd, type LeavingAnswer } from './answer-capture.js';
import { type MeteredKind, MeteredKindOf } from './metered-kind.js';

const log = logger('idempotency');

/** What a guard says that has answered: neither yes nor no, for the handler must not run, and nothing more be sent. */
const answered = (): Promise<never> => new Promise(() => {});

declare module 'express-serve-static-core' {
  interface Request {
    /** Set on a request that may be repeated: its work goes on when the client leaves, so that a repeat finds it. */
    attempt?: Attempt;
  }
}

/**
 * Lets work begin that spends something, and obeys `Idempotency-Key` (design section 5): the same body again gets the
 * same answer and `Idempotent-Replayed: true`, another body is refused, and so is a repeat while the first is at work.
 * Limits of the minute were asked before the body was read; an answer that was paid for is given again to a key over its
 * limit too.
 *
 * A guard and not an interceptor: interceptors wrap every handler call into streams that nothing here needs.
 */
@Injectable()
export class MeteredGuard implements CanActivate {
  constructor(
    private readonly records: IdempotencyService,
    private readonly admission: Admission,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    const kind = this.reflector.get(MeteredKindOf, context.getHandler());
    const key = request.headers['idempotency-key'];
    if (!request.isCounted)
      await this.admission.count(kind === 'free' ? 'shared' : 'paid', callerOf(request), response);
    if (typeof key === 'string' && kind !== 'free' && (await this.repeats(key, kind, request, response)))
      return answered();
    if (request.overLimit) throw request.overLimit;
    if (kind === 'task') await this.admission.admitTask(callerOf(request));
    return true;
  }

  /** Binds the request to its key. True: it was answered, because its work was done before. */
  private async repeats(key: string, kind: MeteredKind, request: Request, response: Response): Promise<boolean> {
    const beginning = await this.records.begin({
      accountId: callerOf(request).accountId,
      onlyOwnKey: onlyOwnKey(callerOf(request)),
      key,
      path: request.path,
      body: request.rawBody ?? JSON.stringify(request.body ?? null),
      requestId: request.requestId,
    });
    if (beginning.kind === 'replay') {
      replay(response, beginning);
      return true;
    }
    this.follow(kind, beginning.attempt, request, response);
    if (beginning.kind !== 'resume' || !beginning.task) return false;
    response.status(200).json(submitted(beginning.task));
    return true;
  }

  /**
   * Keeps the right to work while the request runs, and notes how it ended before the client hears of it. Every handler
   * ends its response, also when the client has left: that is how the end of the work is known.
   */
  private follow(kind: MeteredKind, attempt: Attempt, request: Request, response: Response): void {
    request.attempt = attempt;
    const { requestId } = attempt;
    request.requestId = requestId;
    response.setHeader('x-request-id', requestId);
    response.setHeader('request-id', requestId);
    let noted = false;
    const renewal = setInterval(() => {
      this.records.renew(attempt).catch((error: unknown) => log.warn('key.not_renewed', { requestId, error }));
    }, RENEW_EVERY_MS);
    beforeEnd(response, async (answer) => {
      clearInterval(renewal);
      if (noted) return;
      noted = true;
      await this.note(attempt, answer, kind === 'task').catch((error: unknown) =>
        log.error('answer.not_kept', { requestId, error }),
      );
    });
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

function replay(response: Response, { answer }: Extract<Beginning, { kind: 'replay' }>): void {
  response.setHeader('idempotent-replayed', 'true');
  response.setHeader('content-type', answer.contentType);
  response.status(answer.status).end(answer.body);
}
