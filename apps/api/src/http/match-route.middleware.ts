import type { RequestHandler } from 'express';
import type { RouteIndex, RouteMatch } from './route-index.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** What is known of the route before Nest calls it. */
    match: RouteMatch;
  }
}

/** Looks up the facts of the route, once, for all that follows. */
export const matchRoute =
  (routes: RouteIndex): RequestHandler =>
  (request, _response, next) => {
    request.match = routes.find(request.method, request.path);
    next();
  };
