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

describe('Middlewares in order', () => {
  it('takes each step once, in order, then goes on', async () => {
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
  ])('goes on with the error that a later step %s, and takes no further step', async (_how, failing) => {
    const taken: string[] = [];
    expect(await passedOn(noting('first', taken), failing, noting('last', taken))).toEqual(new Error('refused'));
    expect(taken).toEqual(['first']);
  });

  // A router that is left early passes null on: whoever then went past the rest would get by without a key.
  it.each([null, 0, ''])('takes the next step after %j, which is no error to a router either', async (nothing) => {
    const taken: string[] = [];
    const leaving: RequestHandler = (_request, _response, next) => next(nothing);
    expect(await passedOn(leaving, noting('last', taken))).toBeUndefined();
    expect(taken).toEqual(['last']);
  });

  it('stops at a step that answers by itself', () => {
    const next = (): never => {
      throw new Error('went on');
    };
    expect(composeMiddleware(() => undefined)(request, response, next)).toBeUndefined();
  });
});
