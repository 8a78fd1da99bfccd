import type { NextFunction, Request, RequestHandler, Response } from 'express';

/**
 * Several middlewares as one, each with the router's own promise: what it throws or rejects with is passed on. The
 * router takes every layer through its whole machinery, which for a dozen small steps costs more than the steps.
 */
export function composeMiddleware(...steps: readonly RequestHandler[]): RequestHandler {
  return (request: Request, response: Response, goOn: NextFunction) => {
    const take = (index: number): void => {
      const step = steps[index];
      if (!step) return goOn();
      try {
        const working: unknown = step(request, response, (error?: unknown) =>
          error === undefined ? take(index + 1) : goOn(error),
        );
        if (working instanceof Promise) working.catch(goOn);
      } catch (error) {
        goOn(error);
      }
    };
    take(0);
  };
}
