import { setImmediate as nextTurn } from 'node:timers/promises';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import type { Request, RequestHandler, Response } from 'express';
import { ExpressServer } from './express-server.js';
import { BodyBudget } from './http/body-budget.js';
import type { RouteFacts } from './http/route-facts.js';

setFlagsFromString('--allow-natives-syntax');
/** Whether V8 keeps two objects under one shape, so that code that has seen the one knows where to look in the other. */
const haveSameShape = runInThisContext('(one, other) => %HaveSameMap(one, other)') as (
  one: object,
  other: object,
) => boolean;

describe('ExpressServer', () => {
  let server: ExpressServer;
  let http: Server;
  let url: string;
  beforeEach(async () => {
    server = new ExpressServer(undefined);
    server.initHttpServer();
    http = server.getHttpServer();
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    http.closeAllConnections();
    http.close();
    await once(http, 'close');
  });

  it('keeps the hidden classes of requests and responses stable when properties are added', async () => {
    const held: { request: Request; answer: Response }[] = [];
    server.use((request: Request, answer: Response) => {
      Object.assign(request, { added: 1 });
      Object.assign(answer, { added: 1 });
      answer.setHeader('x-one', '1');
      held.push({ request, answer });
      const [one, other] = held;
      if (!one || !other) return;
      const same = [haveSameShape(one.request, other.request), haveSameShape(one.answer, other.answer)];
      for (const { answer: open } of held) open.json(same);
    });
    const answers = await Promise.all(['/a', '/b'].map(async (path) => (await fetch(url + path)).json()));
    expect(answers).toEqual([
      [true, true],
      [true, true],
    ]);
  });

  it('gives requests and responses the methods of Express', async () => {
    server.use((request: Request, answer: Response) => answer.status(201).json([request.path, request.query['a']]));
    const answer = await fetch(`${url}/there?a=b`);
    expect([answer.status, await answer.json()]).toEqual([201, ['/there', 'b']]);
  });

  describe('with steps in front of its routes', () => {
    const passed: string[] = [];
    const note =
      (name: string): RequestHandler =>
      (request, _answer, next) => {
        passed.push(name);
        next(request.path.endsWith(`/refused-by-${name}`) ? new Error(name) : undefined);
      };
    const facts = { access: 'key' } as RouteFacts;
    beforeEach(() => {
      passed.length = 0;
      const first: RequestHandler = (request, answer, next) => {
        request.match = { facts, pattern: request.path.startsWith('/v1') ? '/v1/:name' : undefined, otherMethods: [] };
        note('first')(request, answer, next);
      };
      const router: RequestHandler = (_request, answer) => {
        passed.push('router');
        answer.end();
      };
      server.useSteps({ first, beforeRoute: note('beforeRoute'), budget: new BodyBudget(1, 1) }, [['/ops', router]]);
      server.get('/v1/:name', async (request: Request, answer: Response) => {
        passed.push('handler');
        await nextTurn();
        if (request.path.endsWith('/rejected')) throw new Error('handler');
        answer.json(request.params);
      });
      server.use((error: Error, _request: Request, answer: Response, _next: unknown) => {
        passed.push('errors');
        answer.status(418).end(error.message);
      });
    });

    it('has a request for a route of API keys pass each step once, and its handler', async () => {
      const answer = await fetch(`${url}/v1/one`);
      expect(await answer.json()).toEqual({ name: 'one' });
      expect(passed).toEqual(['first', 'beforeRoute', 'handler']);
    });

    it('leaves what a step refuses to the error handler of Express, past all else', async () => {
      for (const step of ['first', 'beforeRoute']) {
        passed.length = 0;
        const answer = await fetch(`${url}/v1/refused-by-${step}`);
        expect([answer.status, await answer.text()]).toEqual([418, step]);
        expect(passed).toEqual(step === 'first' ? ['first', 'errors'] : ['first', 'beforeRoute', 'errors']);
      }
    });

    it('leaves what a handler rejects with to the error handler of Express', async () => {
      const answer = await fetch(`${url}/v1/rejected`);
      expect([answer.status, await answer.text()]).toEqual([418, 'handler']);
      expect(passed).toEqual(['first', 'beforeRoute', 'handler', 'errors']);
    });

    it('has other requests pass the routers that stand between the steps', async () => {
      await fetch(`${url}/ops/queues`);
      expect(passed).toEqual(['first', 'router']);
      passed.length = 0;
      expect((await fetch(`${url}/nowhere`)).status).toBe(404);
      expect(passed).toEqual(['first', 'beforeRoute']);
    });
  });
});
