import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { composeMiddleware } from './compose-middleware.js';

const request = {} as Request;
const response = {} as Response;

/** Runs the steps and answers what was passed on: `undefined` for a request that went through. */
const passedOn = (...steps: RequestHandler[]): Promise<unknown> =>
  new Promise((resolve) => void composeMiddleware(...steps)(request, response, resolve as NextFunction));

const noting =
  (name: string, taken: string[]): RequestHandler =>
  (_request, _response, next) => {
    taken.push(name);
    next();
  };

describe('composeMiddleware', () => {
  it('runs each step once, in order, then continues', async () => {
    const taken: string[] = [];
    const slow: RequestHandler = async (_request, _response, next) => {
      await Promise.resolve();
      taken.push('slow');
      next();
    };
    expect(await passedOn(noting('first', taken), slow, noting('last', taken))).toBeUndefined();
    expect(taken).toEqual(['first', 'slow', 'last']);
  });

  it.each<[string, RequestHandler]>([
    ['passes on', (_request, _response, next) => next(new Error('refused'))],
    [
      'throws',
      () => {
        throw new Error('refused');
      },
    ],
    ['rejects with', () => Promise.reject(new Error('refused'))],
  ])('passes on the error that a later step %s, and runs no further step', async (_how, failing) => {
    const taken: string[] = [];
    expect(await passedOn(noting('first', taken), failing, noting('last', taken))).toEqual(new Error('refused'));
    expect(taken).toEqual(['first']);
  });

  // A router that is left early passes on null: skipping the remaining steps then would skip authentication.
  it.each([null, 0, ''])(
    'runs the next step after %j, which a router does not treat as an error either',
    async (nothing) => {
      const taken: string[] = [];
      const leaving: RequestHandler = (_request, _response, next) => next(nothing);
      expect(await passedOn(leaving, noting('last', taken))).toBeUndefined();
      expect(taken).toEqual(['last']);
    },
  );

  it('stops at a step that sends the response', () => {
    const next = (): never => {
      throw new Error('went on');
    };
    expect(composeMiddleware(() => undefined)(request, response, next)).toBeUndefined();
  });
});
