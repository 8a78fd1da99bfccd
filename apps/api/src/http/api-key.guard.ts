import { GatewayError } from '#contracts';
import { AccessService, type Caller, expectScope, onlyOwnKey } from '#features';
import { createParamDecorator, type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { authenticate } from './authenticate.js';
import { routeFacts } from './route-facts.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** The authenticated caller; set before its body is read, or by the guard when it has none. */
    caller?: Caller;
    /**
     * For an answer that takes long: its key or session may have ended since it began, or may do less.
     *
     * @throws GatewayError as for a request that comes now.
     */
    expectStillAllowed?: () => Promise<void>;
  }
}

/** Lets a request in when its API key is good and its scopes allow the route, and says whose it is. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(private readonly access: AccessService) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const caller = request.caller ?? authenticate(request, this.access);
    if (!(caller instanceof Promise)) return this.letIn(caller, request, context);
    return caller.then((found) => this.letIn(found, request, context));
  }

  private letIn(caller: Caller, request: Request, context: ExecutionContext): boolean {
    request.caller = caller;
    request.expectStillAllowed ??= async () => {
      const now = await authenticate(request, this.access);
      expectScope(now, now.scopes.length > 0 ? routeFacts(context.getClass(), context.getHandler()).scope : undefined);
      if (onlyOwnKey(now) !== null && onlyOwnKey(request.caller ?? now) === null) throw narrowed();
    };
    if (caller.scopes.length > 0) expectScope(caller, routeFacts(context.getClass(), context.getHandler()).scope);
    return true;
  }
}

/** How often it is asked whether an answer that takes long may go on, in milliseconds. */
export const ALLOWED_EVERY_MS = 2_000;

/** Whether `expectStillAllowed` says no. What cannot be asked at the moment refuses nothing. */
export const isRefusal = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && (error.status === 401 || error.status === 403);

const narrowed = (): GatewayError =>
  new GatewayError(
    'permission_denied',
    'This API key was just limited to its own tasks and files; send the request again.',
  );

/**
 * The caller that `ApiKeyGuard` let in, or the account of a session of the console.
 *
 * @throws GatewayError `not_found`: the session has no account, as that of an operator, or its account is disabled.
 */
export function callerOf({ caller, session }: Request): Caller {
  if (caller) return caller;
  if (session) throw new GatewayError('not_found', 'No account is selected in this session.');
  throw new Error('The caller is asked for on a route that ApiKeyGuard does not guard');
}

/** The caller that the guard let in, for a parameter of a handler. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller =>
  callerOf(context.switchToHttp().getRequest<Request>()),
);

/** Whose account it is that the guard let in, or that the session shows. */
export const AccountId = createParamDecorator(
  (_: unknown, context: ExecutionContext): string => callerOf(context.switchToHttp().getRequest<Request>()).accountId,
);
