import { AccessService, type Caller, OpenTasks, RateLimits } from '#features';
import { createParamDecorator, type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { admit } from './admit.js';
import { isPaidRequest, isTaskSubmission } from './paid-request.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Who sent the request; set by the guard. */
    caller?: Caller;
  }
}

/** Lets a request in when its API key is good and within its limits, and says whose it is. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly access: AccessService,
    private readonly limits: RateLimits,
    private readonly openTasks: OpenTasks,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const caller = await admit(request, this.access);
    request.caller = caller;
    if (!isPaidRequest(request)) return true;
    const headers = await this.limits.admit(caller);
    for (const [name, value] of Object.entries(headers)) http.getResponse<Response>().setHeader(name, value);
    if (isTaskSubmission(request)) await this.openTasks.admit(caller.accountId);
    return true;
  }
}

/** The caller that the guard let in. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<Request>();
  if (!caller) throw new Error('CurrentCaller is used on a route that ApiKeyGuard does not guard');
  return caller;
});
