import { applyDecorators, Controller, RequestMapping, RequestMethod } from '@nestjs/common';
import type { Request } from 'express';
import { type ConsoleApi, GatewayError } from '#contracts';
import type { Caller, OpenSession, Operator } from '#features';
import type { HandlerFacts } from '../http/route-facts.js';
import type { SerializedBody } from '../http/serialized-body.js';
import { Route, Routes } from '../http/route.js';
import { CONSOLE_API, openSession } from './console-gate.js';

export const ConsoleRoutes = (): ClassDecorator =>
  applyDecorators(Controller(), Routes({ style: 'console', access: 'session' }));

type Facts = Omit<HandlerFacts, 'operation' | 'answer'>;

type KeysOf<Value> = Value extends object ? keyof Value : never;

/** What a handler returns: what its route answers and no field beside it, or what was written or serialized already. */
type Servable<Name extends keyof ConsoleApi, Returned> =
  Exclude<KeysOf<Awaited<Returned>>, keyof ConsoleApi[Name]['answer'] | keyof SerializedBody> extends never
    ? Promise<ConsoleApi[Name]['answer'] | SerializedBody | undefined | void>
    : never;

/** Of a method that may have the route. */
type Serves<Name extends keyof ConsoleApi> = <Returned extends Servable<Name, Returned>>(
  prototype: object,
  name: string,
  descriptor: TypedPropertyDescriptor<(...parameters: never[]) => Returned>,
) => void;

/** A route of the console. One that reads counts as work that costs nothing, for whoever is signed in. */
export function PageRoute<Name extends keyof ConsoleApi>(route: Name, facts: Facts = {}): Serves<Name> {
  const [method, path] = route.split(' ') as ['GET' | 'POST', string];
  const cost = method === 'GET' ? ({ cost: 'always' } as const) : {};
  return applyDecorators(
    RequestMapping({ method: RequestMethod[method], path: `${CONSOLE_API}${path}` }),
    Route({ style: 'console', access: 'session', ...cost, ...facts, operation: [], answer: 'native' }),
  );
}

/** The actor for the audit: the user, the key, or the operator whose token opened the session. Operators change as much as they like. */
export function actorOf(request: Request): Operator {
  const { user, operator, caller, roles } = openSession(request);
  const actor = user?.id ?? (operator ? `console:${operator.role}` : (caller?.apiKeyId ?? 'console'));
  const accountId = roles.includes('operator') ? undefined : caller?.accountId;
  return { actor, requestId: request.requestId, address: request.ip ?? null, accountId };
}

/** Whose models are listed: an operator without an account sees all of them. */
export const everyModel = ({ caller }: Request): Pick<Caller, 'allowedModels'> => caller ?? { allowedModels: [] };

/** The signed-in user. @throws GatewayError `permission_denied`: operators by token and holders of a key have no profile. */
export function personOf(request: Request): NonNullable<OpenSession['user']> {
  const { user } = openSession(request);
  if (user) return user;
  throw new GatewayError('permission_denied', 'This session belongs to an API key or a token: sign in as a user.');
}
