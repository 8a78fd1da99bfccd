import {
  applyDecorators,
  type CallHandler,
  Controller,
  type ExecutionContext,
  HttpCode,
  Injectable,
  type NestInterceptor,
  RequestMapping,
  RequestMethod,
  UseInterceptors,
} from '@nestjs/common';
import type { Request } from 'express';
import { map, type Observable } from 'rxjs';
import type { ConsoleApi } from '#contracts';
import type { Operator } from '#features';
import { actorOf, PageRoute } from '../console/console-routes.js';
import { DataWith } from '../http/envelope.js';
import type { OperationText } from '../http/operation.js';
import type { HandlerFacts } from '../http/route-facts.js';
import { Route, Routes } from '../http/route.js';

/** What holds for a controller of operators: its routes are below /admin/v1 for programs, and below /console/api for pages. */
export const OperatorRoutes = (): ClassDecorator =>
  applyDecorators(Controller(), Routes({ style: 'admin', access: 'operator' }));

/** A route of the pages of operators. */
type OperatorPage = keyof ConsoleApi & `${string} /admin/${string}`;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface Facts extends Pick<HandlerFacts, 'body' | 'answer'> {
  /** The route of the console that does the same. Lists are its `items`, and what is in an envelope stands alone. */
  readonly page?: OperatorPage;
}

/** A route of the admin API, which starts with a token, and of the console, which starts with a session. */
export function AdminRoute(
  route: `${Method} /${string}`,
  operation: OperationText,
  { page, ...facts }: Facts = {},
): MethodDecorator {
  const [method, path] = route.split(' ') as [Method, string];
  const forPrograms = applyDecorators(
    RequestMapping({ method: RequestMethod[method], path: `admin/v1${path}` }),
    Route({ ...facts, operation }),
    HttpCode(200),
  );
  return (prototype, name, descriptor) => {
    if (page) addPageRoute(prototype, String(name), page, facts.body);
    forPrograms(prototype, name, descriptor);
  };
}

/** Nest gives a method one route: another one, which calls it with the same arguments, has that of the pages. */
function addPageRoute(prototype: object, name: string, page: OperatorPage, body: HandlerFacts['body']): void {
  const sameForPages = `${name}ForPages`;
  const { constructor } = prototype;
  const value = function (this: Record<string, (...parameters: unknown[]) => unknown>, ...parameters: unknown[]) {
    return this[name]?.(...parameters);
  };
  Object.defineProperty(prototype, sameForPages, { value });
  // What its parameters are.
  for (const key of Reflect.getMetadataKeys(constructor, name) as string[]) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, constructor, name), constructor, sameForPages);
  }
  applyDecorators(PageRoute(page, body && { body }), UseInterceptors(PageAnswer))(prototype, sameForPages, {
    value,
  });
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
