import type { Health } from '#platform';
import type { RequestHandler } from 'express';

/** While the process drains, every answer asks its client to open the next connection elsewhere. */
export const closeWhenDraining =
  (health: Health): RequestHandler =>
  (_request, response, next) => {
    if (health.isDraining) response.setHeader('connection', 'close');
    next();
  };
