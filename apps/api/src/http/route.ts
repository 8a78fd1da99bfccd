import {
  applyDecorators,
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  HttpCode,
  Injectable,
  type NestInterceptor,
  Res,
  SetMetadata,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { map, type Observable } from 'rxjs';
import type { OpenSession } from '#features';
import { Admission } from './admission.js';
import { callerOf } from './api-key.guard.js';
import { DataWith, envelope } from './envelope.js';
import { carriesBody } from './json-body.middleware.js';
import {
  CONTROLLER_FACTS,
  type ControllerFacts,
  HANDLER_FACTS,
  type HandlerFacts,
  handlerFacts,
} from './route-facts.js';
import { SerializedBody } from './serialized-body.js';

/** Counts a request against the limits of the minute, unless that was done before its body was read. */
@Injectable()
class RateLimitGuard implements CanActivate {
  constructor(private readonly admission: Admission) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    return request.isCounted ? true : this.count(request, context);
  }

  private async count(request: Request, context: ExecutionContext): Promise<boolean> {
    const response = context.switchToHttp().getResponse<Response>();
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

/** Puts what a handler returns into the envelope. Text that is ready to be sent, and what was streamed, stay as they are. */
@Injectable()
class EnvelopeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const response = context.switchToHttp().getResponse<Response>();
    return next.handle().pipe(map((value: unknown) => enveloped(value, response)));
  }
}

function enveloped(value: unknown, { headersSent, statusCode }: Response): unknown {
  if (headersSent || value instanceof SerializedBody) return value;
  return value instanceof DataWith ? value.enveloped(statusCode) : envelope(value, statusCode);
}

export const Routes = (facts: ControllerFacts): ClassDecorator => SetMetadata(CONTROLLER_FACTS, facts);

/**
 * Says what holds for a route, and has it held: the status of what is no failure, body limit, JSON bounds, CORS, the shape of errors, metrics, limits, the
 * envelope and the OpenAPI document all read it here. The path stands beside it, in Nest's own decorator.
 */
export function Route(facts: HandlerFacts): MethodDecorator {
  const { cost, answer } = facts;
  const decorators: MethodDecorator[] = [SetMetadata(HANDLER_FACTS, facts), HttpCode(200)];
  if (cost) decorators.push(UseGuards(RateLimitGuard));
  if (answer !== 'native') decorators.push(UseInterceptors(EnvelopeInterceptor));
  return applyDecorators(...decorators);
}

/** The response, for a handler that sets its headers and returns what is sent. */
export const Reply = (): ParameterDecorator => Res({ passthrough: true });
