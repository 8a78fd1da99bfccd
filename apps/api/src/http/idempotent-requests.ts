import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { GatewayError } from '#contracts';
import {
  type Attempt,
  type Beginning,
  IdempotencyService,
  KEY_CACHE_MS,
  type NamedRequest,
  onlyOwnKey,
  OpenWaits,
  type RecordedResponse,
  RENEW_EVERY_MS,
} from '#features';
import { logger, timeOrderedId } from '#platform';
import { submitted } from './submitted.js';
import { Admission } from './admission.js';
import { callerOf, isRefusal } from './api-key.guard.js';
import { envelope } from './envelope.js';
import { isKeptAlive, isStreamed } from './keep-alive.js';
import { JSON_TYPE, SerializedBody } from './serialized-body.js';
import { MemoryReservations } from './memory-reservations.js';
import { toGatewayError } from './error-body.js';

const log = logger('idempotency');

/** The longest answer that is kept, in bytes. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;

/** The longest that a repeat waits for the answer of the first request, which is as long as clients wait by default. */
const JOINS_FOR_MS = 600_000;
const FIRST_LOOK_MS = 100;
const LAST_LOOK_MS = 5_000;

declare module 'express-serve-static-core' {
  interface Request {
    /** Set on a request that may be repeated: its work continues when the client leaves, so that a repeat finds it. */
    attempt?: Attempt;
    /** Set on a first try that its library may repeat without a key: the same holds, and its task has a name already. */
    repeatable?: { readonly taskId: string };
  }
}

/** How often the client's library has sent the request before; libraries made by Stainless, as those of the large vendors are, tell. */
const REPEATS_HEADER = 'x-stainless-retry-count';
const COUNT = /^\d{1,4}$/;

/** What a handler does for a request: what is sent, or nothing when it has streamed it. */
export type Work = () => Promise<SerializedBody | undefined>;

/** How an attempt ended. */
interface Outcome {
  readonly status: number;
  /** What is sent; null when it was streamed or is longer than what is kept. */
  readonly body: SerializedBody | null;
}

/**
 * Obeys `Idempotency-Key` where a request spends something: the same body again gets the same answer and
 * `Idempotent-Replayed: true`, another body is refused. A repeat while the first request is running waits for its answer, or is
 * refused where that is a stream, which is not kept. Rate limits were checked before the body was read; an answer that was paid for
 * is given again even to a key over its limit.
 *
 * Libraries that repeat without a key, but count, are obeyed too where the answer is whole: a repeat of the same body by the same
 * API key joins or replays a try that was cut off within the last 15 minutes. A first try costs nothing by that until it is cut off.
 *
 * Handlers whose `@Route` costs `task` or `text` do all of their work in it. Their response is ended after its outcome was
 * noted, so that a client that has it can rely on the repeat.
 */
@Injectable()
export class IdempotentRequests {
  /** By API key, tries that were cut off a moment ago and are being noted: a repeat that is as quick as that must find them. */
  private readonly beingNoted = new Map<string, Promise<unknown>>();
  /** By API key, tries that run: that one was cut off may be seen only after its repeat has come. */
  private readonly firstTries = new Map<string, Set<FirstTry>>();

  constructor(
    private readonly records: IdempotencyService,
    private readonly admission: Admission,
    private readonly memory: MemoryReservations,
    private readonly waits: OpenWaits,
  ) {}

  /**
   * What `work` returns, or what it returned to the request that first came with the same key.
   *
   * @throws GatewayError `rate_limit_exceeded`, `idempotency_in_flight`, `idempotency_mismatch`, what `work` throws, and why its caller
   * may not have an answer that took long: it was made and paid for, and a repeat by another key of the account gets it.
   */
  async answer(request: Request, response: Response, work: Work): Promise<SerializedBody | undefined> {
    const began = performance.now();
    const body = await this.answered(request, response, work);
    if (body && performance.now() - began > KEY_CACHE_MS)
      await request.expectStillAllowed?.().catch((error: unknown) => {
        if (isRefusal(error)) throw error;
      });
    return body;
  }

  private answered(request: Request, response: Response, work: Work): Promise<SerializedBody | undefined> {
    const isTask = request.match.facts.cost === 'task';
    const key = request.headers['idempotency-key'];
    if (typeof key === 'string')
      return this.memory.during(response, () => this.once(key, isTask, request, response, work));
    const repeats = request.headers[REPEATS_HEADER];
    if (typeof repeats === 'string' && COUNT.test(repeats) && !isStreamed(request))
      return this.memory.during(response, () =>
        Number(repeats) > 0
          ? this.once(null, isTask, request, response, work)
          : this.rememberedWhenCut(isTask, request, response, work),
      );
    const admitted = this.expectRoom(isTask, request);
    return admitted ? admitted.then(work) : work();
  }

  /** The answer of the request that first came with this key. */
  private async once(
    key: string | null,
    isTask: boolean,
    request: Request,
    response: Response,
    work: Work,
  ): Promise<SerializedBody | undefined> {
    const named = await this.named(key, request);
    if (key === null) await this.noteFirstTryOf(request);
    const beginning = await this.begin(named, isStreamed(request), response);
    if (beginning === 'not kept') return this.admitted(isTask, request, work);
    if (beginning.kind === 'replay') {
      const body = replayed(beginning.answer, response);
      this.memory.reserverFor(response, callerOf(request).accountId)(body.bytes);
      return body;
    }
    const { attempt } = beginning;
    nameAfter(attempt, request, response);
    const written = beginning.kind === 'resume' ? beginning.task : null;
    return this.follow(attempt, isTask, response, async () => {
      return written ? SerializedBody.json(envelope(submitted(written))) : this.admitted(isTask, request, work);
    });
  }

  private async admitted(isTask: boolean, request: Request, work: Work): Promise<SerializedBody | undefined> {
    await this.expectRoom(isTask, request);
    return work();
  }

  private named(key: string | null, request: Request): Promise<NamedRequest> {
    const caller = callerOf(request);
    return this.records.name({
      accountId: caller.accountId,
      onlyOwnKey: key === null ? caller.apiKeyId : onlyOwnKey(caller),
      key,
      path: request.path,
      body: sentIn(request),
      requestId: request.requestId,
    });
  }

  /** The answer to a first try. If its client is cut off before it has all of it, it is kept for the repeat. */
  private async rememberedWhenCut(
    isTask: boolean,
    request: Request,
    response: Response,
    work: Work,
  ): Promise<SerializedBody | undefined> {
    const repeatable = { taskId: timeOrderedId('task') };
    request.repeatable = repeatable;
    const end = new OutcomeOf();
    const { apiKeyId } = callerOf(request);
    let isNoted = false;
    const first: FirstTry = {
      request,
      note: () => {
        if (!isNoted) void this.remember(request, repeatable.taskId, isTask, end);
        isNoted = true;
      },
    };
    const running = this.firstTries.get(apiKeyId) ?? new Set();
    this.firstTries.set(apiKeyId, running.add(first));
    response.once('close', () => {
      running.delete(first);
      if (running.size === 0 && this.firstTries.get(apiKeyId) === running) this.firstTries.delete(apiKeyId);
      if (!response.writableFinished) first.note();
    });
    try {
      const body = await this.admitted(isTask, request, work);
      end.is(keptOutcome(response.statusCode, body));
      return body;
    } catch (error) {
      end.is({ status: toGatewayError(error).status, body: null });
      throw error;
    }
  }

  /** Libraries repeat what they gave up, so that the try which a repeat is of was cut off, seen or not. */
  private noteFirstTryOf(repeat: Request): Promise<unknown> | undefined {
    const { apiKeyId } = callerOf(repeat);
    for (const { request, note } of this.firstTries.get(apiKeyId) ?? [])
      if (request.path === repeat.path && isSame(sentIn(request), sentIn(repeat))) note();
    return this.beingNoted.get(apiKeyId);
  }

  private async remember(request: Request, taskId: string, isTask: boolean, end: OutcomeOf): Promise<void> {
    const { requestId } = request;
    const { apiKeyId } = callerOf(request);
    const begun = this.named(null, request).then((named) => this.records.begin(named, taskId));
    const noted = Promise.allSettled([this.beingNoted.get(apiKeyId), begun]).finally(() => {
      if (this.beingNoted.get(apiKeyId) === noted) this.beingNoted.delete(apiKeyId);
    });
    this.beingNoted.set(apiKeyId, noted);
    try {
      const beginning = await begun;
      // The same was cut off a short while ago: its repeats are answered by that.
      if (beginning.kind !== 'work') return;
      const renewal = this.renewed(beginning.attempt);
      await end.outcome
        .then((outcome) => this.note(beginning.attempt, outcome, isTask))
        .finally(() => clearInterval(renewal));
    } catch (error) {
      log.warn('answer.not_kept', { requestId, error });
    }
  }

  /** Where the first request is at work, its end is waited for: its client was cut off, by a proxy say, and asks again. */
  private async begin(named: NamedRequest, streamed: boolean, response: Response): Promise<Beginning | 'not kept'> {
    const deadlineMs = performance.now() + JOINS_FOR_MS;
    for (;;) {
      try {
        return await this.records.begin(named);
      } catch (error) {
        // Who repeats without a key asked for no promise that it is done once.
        if (named.key === null && error instanceof GatewayError && error.code === 'conflict') return 'not kept';
        const mayJoin = error instanceof GatewayError && error.code === 'idempotency_in_flight' && !streamed;
        if (!mayJoin || !(await this.isOverBy(deadlineMs, named, response))) throw error;
        await response.req.expectStillAllowed?.();
      }
    }
  }

  /** Waits for the end of the first request; false: it does not come in time, or nobody waits for it any more. */
  private async isOverBy(deadlineMs: number, named: NamedRequest, response: Response): Promise<boolean> {
    const leave = this.waits.enter(named.accountId);
    try {
      for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(lookMs * 1.5, LAST_LOOK_MS)) {
        await sleep(lookMs);
        if (response.closed || performance.now() > deadlineMs) return false;
        if (!(await this.records.isAtWork(named))) return true;
      }
    } finally {
      leave();
    }
  }

  /** @throws GatewayError `rate_limit_exceeded`: the key is over its limit, or the account has too many open tasks. */
  private expectRoom(isTask: boolean, request: Request): Promise<void> | undefined {
    if (request.overLimit) return Promise.reject(request.overLimit);
    return isTask ? this.admission.admitTask(callerOf(request)) : undefined;
  }

  /** Keeps the right to work while the request runs, and notes how it ended before the client hears of it. */
  private async follow(
    attempt: Attempt,
    isTask: boolean,
    response: Response,
    work: Work,
  ): Promise<SerializedBody | undefined> {
    const { requestId } = attempt;
    const renewal = this.renewed(attempt);
    const note = (outcome: Outcome): Promise<void> =>
      this.note(attempt, outcome, isTask).catch((error: unknown) => log.error('answer.not_kept', { requestId, error }));
    try {
      const body = await work();
      await note(keptOutcome(response.statusCode, body));
      return body;
    } catch (error) {
      // What was streamed before it failed was charged, and ends as it is.
      const isStream = response.headersSent && !isKeptAlive(response);
      const status = isStream ? response.statusCode : toGatewayError(error).status;
      await note({ status, body: null });
      throw error;
    } finally {
      clearInterval(renewal);
    }
  }

  private renewed(attempt: Attempt): NodeJS.Timeout {
    const { requestId } = attempt;
    return setInterval(() => {
      this.records.renew(attempt).catch((error: unknown) => log.warn('key.not_renewed', { requestId, error }));
    }, RENEW_EVERY_MS);
  }

  /**
   * Refusals free the key, since nothing happened. After an error of ours a task may have been written all the same:
   * the next attempt looks. A text request was settled by then, so it starts again. A key that an earlier attempt used is
   * never freed, because that one may still wake up; but when it was paid for, its repeat was free and is used up: or whatever
   * fails could be asked of vendors for nothing again and again.
   */
  private async note(attempt: Attempt, { status, body }: Outcome, isTask: boolean): Promise<void> {
    if (status < 400) await this.records.finish(attempt, status, body?.contentType ?? JSON_TYPE, body?.text ?? null);
    else if ((attempt.resumed && attempt.isPaid !== true) || (status >= 500 && isTask))
      await this.records.unlock(attempt);
    else await this.records.forget(attempt);
  }
}

/** A try that its library may repeat. */
interface FirstTry {
  readonly request: Request;
  /** Keeps its answer for the repeat. */
  readonly note: () => void;
}

const isSame = (one: Buffer | string, other: Buffer | string): boolean =>
  typeof one === 'string' || typeof other === 'string' ? one === other : one.equals(other);

const sentIn = ({ rawBody, body }: Request): Buffer | string => rawBody ?? JSON.stringify(body ?? null);

const keptOutcome = (status: number, body: SerializedBody | undefined): Outcome => ({
  status,
  body: body && body.bytes <= KEPT_BYTES_MAX ? body : null,
});

/** How a request ends, for whoever asks before it has or after. */
class OutcomeOf {
  is: (outcome: Outcome) => void = () => undefined;
  readonly outcome = new Promise<Outcome>((resolve) => (this.is = resolve));
}

/** An attempt that continues for another one goes by its id. */
function nameAfter(attempt: Attempt, request: Request, response: Response): void {
  request.attempt = attempt;
  request.requestId = attempt.requestId;
  if (response.headersSent) return;
  response.setHeader('x-request-id', attempt.requestId);
  response.setHeader('request-id', attempt.requestId);
}

function replayed({ status, contentType, body }: RecordedResponse, response: Response): SerializedBody {
  // Blanks may have begun the answer while it was waited for.
  if (!response.headersSent) response.setHeader('idempotent-replayed', 'true').status(status);
  return new SerializedBody(body, contentType);
}
