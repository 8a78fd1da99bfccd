import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { match, type MatchFunction } from 'path-to-regexp';

/** The routes of one pattern, as Express reads it. */
interface PatternRoutes {
  readonly parametersOf: MatchFunction<Request['params']>;
  readonly byMethod: Map<string, RequestHandler>;
}

/** As Express sets its router up here: case matters, a slash at the end does not. */
const AS_EXPRESS = { sensitive: true, trailing: true, end: true } as const;

/**
 * The handlers of routes by pattern and method. A request knows its pattern before Nest is asked, so that no other
 * pattern needs to be tried on it: Express tries each in turn, which is most of what it costs.
 */
export class MatchedRoutes {
  private readonly patterns = new Map<string, PatternRoutes>();

  /** Adds a route. Of two for the same method and pattern the first stays, as in Express. */
  add(method: string, pattern: string, handler: RequestHandler): void {
    const { byMethod } = this.at(pattern);
    if (!byMethod.has(method)) byMethod.set(method, handler);
  }

  /** Every route, in no order. */
  list(): (readonly [method: string, pattern: string])[] {
    return [...this.patterns].flatMap(([pattern, { byMethod }]) =>
      [...byMethod.keys()].map((method) => [method, pattern] as const),
    );
  }

  /** Calls the handler of the route that was found for the request; without one, goes on. */
  readonly dispatch = (request: Request, response: Response, next: NextFunction): unknown => {
    const { pattern } = request.match;
    const routes = pattern === undefined ? undefined : this.patterns.get(pattern);
    const handler = routes && handlerFor(routes.byMethod, request.method);
    const matched = handler && routes.parametersOf(request.path);
    if (!matched) return next();
    request.params = matched.params;
    return handler(request, response, next);
  };

  private at(pattern: string): PatternRoutes {
    const routes = this.patterns.get(pattern) ?? {
      parametersOf: match<Request['params']>(pattern, AS_EXPRESS),
      byMethod: new Map(),
    };
    this.patterns.set(pattern, routes);
    return routes;
  }
}

/** Express answers HEAD by the handler of GET. */
const handlerFor = (byMethod: ReadonlyMap<string, RequestHandler>, method: string): RequestHandler | undefined =>
  byMethod.get(method) ?? (method === 'HEAD' ? byMethod.get('GET') : undefined);
