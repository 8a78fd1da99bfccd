import type { OpenSession } from '#features';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Admission } from './admission.js';
import { callerOf } from './api-key.guard.js';
import { carriesBody } from './json-body.middleware.js';
import { handlerFacts } from './route-facts.js';

/** Counts a request against the limits of the minute, unless that was done before its body was read. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(private readonly admission: Admission) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    if (request.isCounted) return true;
    const { session, caller } = request;
    // Routes of the console that need no session are few and light.
    if (!session && !caller && request.match.facts.style === 'console') return true;
    // A person reads in the console although programs of the account use up its share, and an operator has no account.
    if (session && !carriesBody(request)) {
      await this.admission.countReader(readerOf(session), response);
      return true;
    }
    const cost = handlerFacts(context.getHandler())?.cost;
    const countedAs = cost === 'task' || cost === 'text' ? 'paid' : 'shared';
    await this.admission.count(countedAs, callerOf(request), response);
    return true;
  }
}

/** Who reads in the console: a person, the holder of a key, or the operators of one role. */
const readerOf = ({ user, caller, operator }: OpenSession): string =>
  user?.id ?? caller?.apiKeyId ?? `operators:${operator?.role}`;
