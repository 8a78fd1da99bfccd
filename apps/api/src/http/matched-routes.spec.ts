import express, { type Request, type RequestHandler, Router } from 'express';
import fc from 'fast-check';
import { CONTROLLERS } from '../controllers.js';
import { declaredRoutes } from './declared-routes.js';
import { MatchedRoutes } from './matched-routes.js';
import { RouteIndex } from './route-index.js';

const ROUTES = declaredRoutes(CONTROLLERS);

/** Which route a request came to, and with which parameters. */
type Called = readonly [pattern: string, parameters: Record<string, unknown>] | 'none';

describe('MatchedRoutes', () => {
  const index = new RouteIndex(ROUTES);
  const matched = new MatchedRoutes();
  const router = Router({ caseSensitive: true });
  let called: Called;
  for (const { method, path } of ROUTES) {
    const handler: RequestHandler = ({ params }) => void (called = [path, { ...params }]);
    matched.add(method, path, handler);
    router[method.toLowerCase() as 'get' | 'post'](path, handler);
  }

  /** What a handler of routes calls for a request of this method and path; no byte is sent. */
  const calledBy = (handler: RequestHandler, method: string, url: string): Called => {
    called = 'none';
    const match = index.find(method, url.replace(/\?.*/, ''));
    const request = { __proto__: express.request, method, url, match };
    handler(request as unknown as Request, {} as never, () => undefined);
    return called;
  };

  it('calls the same handler as Express with the same parameters, for any path and method', () => {
    const asked = fc.constantFrom(...ROUTES).chain(({ method, path }) => {
      const segment = fc.constantFrom('task_1', 'a%20b', 'a%2Fb', '%E5%AE%A2', 'x:y', '__proto__', 'batch');
      const filled = fc.array(segment, { minLength: 4, maxLength: 4 }).map((values) => {
        let used = 0;
        const next = (): string => values[used++ % values.length] ?? '';
        return path.replaceAll(/[:*]\w+/g, (name) => (name.startsWith('*') ? `${next()}/${next()}` : next()));
      });
      const verb = fc.constantFrom(method, 'GET', 'HEAD', 'POST', 'DELETE');
      return fc.tuple(verb, filled, fc.constantFrom('', '/', '?wait=1'));
    });
    fc.assert(
      fc.property(asked, ([method, path, end]) => {
        const url = path + end;
        expect([method, url, calledBy(matched.dispatch, method, url)]).toEqual([
          method,
          url,
          calledBy(router, method, url),
        ]);
      }),
      { numRuns: 3_000 },
    );
  });

  it('goes on to what follows when the request has no route', () => {
    let passed = 0;
    const request = { __proto__: express.request, method: 'GET', url: '/', match: index.find('GET', '/nothing') };
    matched.dispatch(request as unknown as Request, {} as never, () => (passed += 1));
    expect(passed).toBe(1);
  });
});
