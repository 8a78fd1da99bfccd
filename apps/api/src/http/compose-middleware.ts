import type { NextFunction, Request, RequestHandler, Response } from 'express';

/**
 * Several middlewares as one, each with the router's own promise: what it throws or rejects with is passed on. The
 * router takes every layer through its whole machinery, which for a dozen small steps costs more than the steps.
 */
export function composeMiddleware(...steps: readonly RequestHandler[]): RequestHandler {
  return (request: Request, response: Response, goOn: NextFunction) => {
    let taken = 0;
    const next = (failure?: unknown): void => {
      if (failure) return goOn(failure);
      const step = steps[taken];
      if (!step) return goOn();
      taken += 1;
      try {
        const working: unknown = step(request, response, next);
        if (working instanceof Promise) working.catch(goOn);
      } catch (thrown) {
        goOn(thrown);
      }
    };
    next();
  };
}
