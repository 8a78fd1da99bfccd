import { Router } from 'express';
import fc from 'fast-check';
import { CONTROLLERS } from '../controllers.js';
import { declaredRoutes } from './declared-routes.js';
import { RouteIndex } from './route-index.js';

/** A part of Express's router that its types leave out. */
interface Layer {
  readonly route: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

const ROUTES = declaredRoutes(CONTROLLERS);

/** The layers of Express's own router over the same routes, set up as the server's. */
function layersOf(routes: readonly { method: string; path: string }[]): readonly Layer[] {
  const router = Router({ caseSensitive: true });
  for (const { method, path } of routes)
    router[method.toLowerCase() as 'get' | 'post'](path, (_request, response) => void response.end());
  return router.stack as unknown as Layer[];
}

describe('RouteIndex', () => {
  const index = new RouteIndex(ROUTES);
  const layers = layersOf(ROUTES);

  /** What Express would call. */
  const routed = (method: string, path: string): string | undefined => {
    const wanted = method === 'HEAD' ? 'get' : method.toLowerCase();
    return layers.find((layer) => layer.match(path) && layer.route.methods[wanted])?.route.path;
  };

  it('finds the same route as Express, for any path and method', () => {
    const words = [...new Set(ROUTES.flatMap(({ path }) => path.split('/')))].filter((word) => !/^[:*]/.test(word));
    const segment = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...words) },
      fc.constantFrom('x', 'a:generateContent', '%3a', 'V1', 'constructor', '__proto__', ' '),
    );
    const path = fc
      .tuple(fc.array(segment, { maxLength: 7 }), fc.constantFrom('', '/', '//'))
      .map(([segments, end]) => `/${segments.join('/')}${end}`);
    const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'PUT', 'OPTIONS');
    fc.assert(
      fc.property(method, path, (verb, asked) => {
        // Express lets the key of a file begin with a slash; no link has one.
        fc.pre(!asked.startsWith('/files//'));
        expect([verb, asked, index.find(verb, asked).pattern]).toEqual([verb, asked, routed(verb, asked)]);
      }),
      { numRuns: 5_000 },
    );
  });

  it('finds the facts of every route by any of its paths', () => {
    for (const { method, path, facts } of ROUTES) {
      const asked = path.replaceAll(/[:*]\w+/g, 'a%20b');
      for (const spelled of [asked, `${asked}/`])
        expect([path, index.find(method, spelled)]).toEqual([path, { facts, pattern: path, otherMethods: [] }]);
    }
  });

  it('lists the allowed methods of a path without the requested one', () => {
    expect(index.find('PUT', '/v1/tasks/task_1').otherMethods).toEqual(['GET', 'HEAD']);
    expect(index.find('PUT', '/v1/tasks/batch').otherMethods).toEqual(['GET', 'HEAD', 'POST']);
    expect(index.find('GET', '/v1/responses').otherMethods).toEqual(['POST']);
    expect(index.find('GET', '/v1/nothing').otherMethods).toEqual([]);
  });

  it.each([
    ['/v1/responses/a/b', 'responses', true],
    ['/v1/messages/nothing', 'messages', true],
    ['/v1beta/models/a:b/c', 'gemini', true],
    ['/v1/tasks/a/b', 'tasks', false],
    ['/v1/nothing', 'other', false],
    ['/', 'other', false],
  ])('suggests a similar path for an unknown one: %s', (path, style, cors) => {
    const { facts, pattern } = index.find('GET', path);
    expect([pattern, facts]).toMatchObject([undefined, { style, cors, body: 'fields', cost: undefined }]);
  });

  it('gives everything below a mounted router its facts', () => {
    const mounted = new RouteIndex([]);
    mounted.addTree('/ops', { style: 'ops' });
    for (const path of ['/ops', '/ops/', '/ops/a/b']) expect(mounted.find('POST', path).facts.style).toBe('ops');
    expect(mounted.find('GET', '/opsx').facts.style).toBe('other');
  });

  it.each([
    ['slashes', '/'.repeat(100_000)],
    ['segments', '/a'.repeat(50_000)],
    ['segments that routes have', '/v1'.repeat(33_000)],
    ['one segment', `/v1/tasks/${'x'.repeat(100_000)}/y`],
  ])('handles a path of very many %s without visiting each', (_what, path) => {
    expect(index.find('GET', path).pattern).toBeUndefined();
  });
});
