import {
  applyDecorators,
  type CallHandler,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  RequestMapping,
  RequestMethod,
  UseInterceptors,
} from '@nestjs/common';
import type { Request } from 'express';
import { map, type Observable } from 'rxjs';
import type { ConsoleApi } from '#contracts';
import type { Operator, OpenSession } from '#features';
import { CONSOLE_API } from '../console/console-gate.js';
import { actorOf, PageRoute } from '../console/console-routes.js';
import { callerOf } from '../http/api-key.guard.js';
import { DataWith } from '../http/envelope.js';
import type { OperationText } from '../http/operation.js';
import type { HandlerFacts } from '../http/route-facts.js';
import { Route, Routes } from '../http/route.js';

/** What holds for a controller of operators: its routes are below /admin/v1 for programs, and below /console/api for pages. */
export const OperatorRoutes = (): ClassDecorator =>
  applyDecorators(Controller(), Routes({ style: 'admin', access: 'operator' }));

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Facts = Pick<HandlerFacts, 'body' | 'answer'>;

/** A route of the admin API, which starts with a token. */
export function AdminRoute(
  route: `${Method} /${string}`,
  operation: OperationText,
  facts: Facts = {},
): MethodDecorator {
  const [method, path] = route.split(' ') as [Method, string];
  return applyDecorators(
    RequestMapping({ method: RequestMethod[method], path: `admin/v1${path}` }),
    Route({ ...facts, operation }),
  );
}

interface Pages {
  readonly page?: keyof ConsoleApi;
  readonly own?: keyof ConsoleApi;
}

/** Whose account the address of a route names; where it names none, that of the session. */
export const NamedAccount = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  const request = context.switchToHttp().getRequest<Request>();
  const { account_id: named } = request.params;
  return typeof named === 'string' ? named : callerOf(request).accountId;
});

/** The session of somebody who works on their own account; undefined for operators. */
export const memberOf = ({ session, match: { pattern } }: Request): OpenSession | undefined =>
  pattern?.startsWith(`${CONSOLE_API}/admin/`) ? undefined : session;

/** The same for pages: they send what changes something, and name what takes something away. */
type PageOf<Name extends string> = Name extends `GET ${infer Path}`
  ? `GET /admin${Path}`
  : Name extends `DELETE ${infer Path}`
    ? `POST /admin${Path}/remove`
    : Name extends `${string} ${infer Path}`
      ? `POST /admin${Path}`
      : never;

/**
 * A route of the admin API and of the console, which starts with a session. Pages read lists as their `items`, and what is in
 * an envelope alone. `page`: its route, where it is not named by the rule. `own`: the same for people of the account itself.
 */
export function OperatorRoute<const Name extends `${Method} /${string}`>(
  route: PageOf<Name> extends keyof ConsoleApi ? Name : never,
  operation: OperationText,
  facts?: Facts & Pick<Pages, 'own'>,
): MethodDecorator;
export function OperatorRoute(
  route: `${Method} /${string}`,
  operation: OperationText,
  facts: Facts & Pages & { readonly page: keyof ConsoleApi },
): MethodDecorator;
export function OperatorRoute(
  route: `${Method} /${string}`,
  operation: OperationText,
  { page, own, ...facts }: Facts & Pages = {},
): MethodDecorator {
  const forPrograms = AdminRoute(route, operation, facts);
  const [method, path] = route.split(' ') as [Method, string];
  const named = `${method === 'GET' ? 'GET' : 'POST'} /admin${path}${method === 'DELETE' ? '/remove' : ''}`;
  return (prototype, name, descriptor) => {
    addPageRoute(prototype, String(name), page ?? (named as keyof ConsoleApi), facts.body);
    if (own) addPageRoute(prototype, String(name), own, facts.body);
    forPrograms(prototype, name, descriptor);
  };
}

/** Nest gives a method one route: another one, which calls it with the same arguments, has that of the pages. */
function addPageRoute(prototype: object, name: string, page: keyof ConsoleApi, body: HandlerFacts['body']): void {
  const sameForPages = `${name} ${page}`;
  const { constructor } = prototype;
  const value = function (this: Record<string, (...parameters: unknown[]) => unknown>, ...parameters: unknown[]) {
    return this[name]?.(...parameters);
  };
  Object.defineProperty(prototype, sameForPages, { value });
  // What its parameters are.
  for (const key of Reflect.getMetadataKeys(constructor, name) as string[]) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, constructor, name), constructor, sameForPages);
  }
  applyDecorators(PageRoute(page, body && { body }) as MethodDecorator, UseInterceptors(PageAnswer))(
    prototype,
    sameForPages,
    {
      value,
    },
  );
}

/** Shows what a handler of the admin API answers as pages read it. */
@Injectable()
class PageAnswer implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map(shownToPages));
  }
}

function shownToPages(answer: unknown): unknown {
  if (answer instanceof DataWith) return { items: answer.data as unknown, ...answer.after };
  return Array.isArray(answer) ? { items: answer } : answer;
}

const ACTOR_CHARACTERS_MAX = 100;

/** The actor for the audit: whose session it is; without one, what the header `X-Admin-Actor` says, or `admin`. */
export const operatorOf = (request: Request): Operator =>
  request.session
    ? actorOf(request)
    : {
        actor: request.get('x-admin-actor')?.slice(0, ACTOR_CHARACTERS_MAX) || 'admin',
        requestId: request.requestId,
        address: request.ip ?? null,
      };
