import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Admission } from './admission.js';
import { callerOf } from './api-key.guard.js';
import { handlerFacts } from './route-facts.js';

/** Counts a request against the limits of the minute, unless that was done before its body was read. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(private readonly admission: Admission) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    if (request.isCounted) return true;
    const cost = handlerFacts(context.getHandler())?.cost;
    const countedAs = cost === 'task' || cost === 'text' ? 'paid' : 'shared';
    await this.admission.count(countedAs, callerOf(request), context.switchToHttp().getResponse<Response>());
    return true;
  }
}
