import { KEY_SCOPES } from '#features';
import type { JsonObject } from '#contracts';
import { Controller, Get } from '@nestjs/common';
import { startTestGateway, type TestGateway } from '../../../tests/harness/test-gateway.js';
import { CONTROLLERS } from './controllers.js';
import { type DeclaredRoute, declaredRoutes } from './http/declared-routes.js';
import { isTextStyle } from './http/route-facts.js';
import { Routes } from './http/route.js';
import { RouteIndex } from './http/route-index.js';
import { openapiDocument } from './openapi/openapi-document.js';

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: JsonObject;
  readonly security?: readonly JsonObject[];
}

const ROUTES = declaredRoutes(CONTROLLERS);
const PATHS = openapiDocument()['paths'] as unknown as Readonly<Record<string, Readonly<Record<string, Operation>>>>;

const HAS_BODY = new Set(['POST', 'PUT', 'PATCH']);
/** Their errors have a shape of their own, so they check the key themselves. */
const isBalance = ({ path }: DeclaredRoute): boolean => path.endsWith('/balance');
const nameOf = ({ method, path }: DeclaredRoute): string => `${method} ${path}`;
const where = (is: (route: DeclaredRoute) => boolean): string[] => ROUTES.filter(is).map(nameOf);
const names = (path: string, pattern: RegExp): string[] => [...path.matchAll(pattern)].map(([, name]) => name ?? '');

@Controller('v1/silent')
@Routes({ style: 'account' })
class SilentController {
  @Get()
  read(): string {
    return 'says nothing about its route';
  }
}

describe('The facts of the routes', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false });
  });
  afterAll(() => gateway.stop());

  it('exist for every route of the server, and for no other', () => {
    const served = gateway.routes().map(([method, path]) => `${method} ${path}`);
    expect(ROUTES.map(nameOf).sort()).toEqual(served.sort());
  });

  it('are required: a route without them fails the start', () => {
    expect(() => declaredRoutes([...CONTROLLERS, SilentController])).toThrow(
      'SilentController.read needs @Routes and @Route',
    );
  });

  it('name the subject of every route, so that metrics count none as other', () => {
    expect(where(({ facts }) => facts.style === 'other')).toEqual([]);
  });

  it('give every route of key holders the scope that it needs', () => {
    expect(where(({ facts }) => facts.access === 'key' && facts.scope === undefined)).toEqual([]);
    expect(KEY_SCOPES.filter((scope) => !ROUTES.some(({ facts }) => facts.scope === scope))).toEqual(['account']);
  });

  it('apply rate limits to everything that key holders change, pay for or list', () => {
    expect(
      where(({ method, facts }) => facts.access === 'key' && method !== 'GET' && facts.cost === undefined),
    ).toEqual([]);
  });

  it('let only open routes and operator routes go without a key', () => {
    expect(where(({ facts }) => facts.access === 'open')).toEqual([
      'GET /healthz',
      'GET /readyz',
      'GET /files/*key',
      'POST /callbacks/v1/:upstream/:token',
      'GET /openapi.json',
      'GET /llms.txt',
      'GET /docs',
      'GET /docs/:asset',
    ]);
    const isBelowAdmin = ({ path }: DeclaredRoute): boolean => path.startsWith('/admin/v1/') || path === '/metrics';
    expect(where(({ facts }) => facts.access === 'operator')).toEqual(where(isBelowAdmin));
  });

  it('allow other origins only on the text routes and the balances', () => {
    expect(where(({ facts }) => facts.cors)).toEqual(
      where((route) => isTextStyle(route.facts.style) || isBalance(route)),
    );
  });

  it('allow large bodies only where images or files are sent, and prices or costs imported, proposed, simulated or set', () => {
    const large = where(({ method, facts }) => method !== 'GET' && facts.body !== 'fields' && facts.body !== 'unread');
    expect(large).toEqual(
      where(
        ({ method, path, facts }) =>
          (method === 'POST' && isTextStyle(facts.style) && !path.endsWith('/cancel')) ||
          (facts.style === 'console' && facts.cost === 'text') ||
          facts.cost === 'task' ||
          path.endsWith('/quote') ||
          path === '/console/api/uploads' ||
          path === '/admin/v1/prices/import' ||
          /^(PATCH \/admin\/v1|POST \/console\/api\/admin)\/upstreams\/:upstream_id$/.test(`${method} ${path}`) ||
          (method === 'POST' &&
            /^\/(admin\/v1|console\/api\/admin)\/price-(simulations|proposals(\/:proposal_id\/apply)?)$/.test(path)) ||
          (method === 'POST' && path.endsWith('/v1/files')),
      ),
    );
  });

  it('match the OpenAPI document: parameters, body and security schemes', () => {
    for (const { method, path, facts, operation } of ROUTES) {
      if (!operation) continue;
      const documented = PATHS[path.replaceAll(/[:*](\w+)/g, '{$1}')]?.[method.toLowerCase()];
      const inPath = documented?.parameters?.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      const schemes = documented?.security?.flatMap((scheme) => Object.keys(scheme));
      const expected = { key: undefined, operator: ['adminToken'], session: [], open: [] }[facts.access];
      expect([path, documented?.operationId, inPath ?? []]).toEqual([path, operation.id, names(path, /[:*](\w+)/g)]);
      expect([path, schemes]).toEqual([path, expected]);
      expect([path, documented?.requestBody === undefined || HAS_BODY.has(method)]).toEqual([path, true]);
    }
  });

  it('have unique operation ids in the OpenAPI document', () => {
    const ids = ROUTES.flatMap(({ operation }) => operation?.id ?? []);
    expect(ids).toEqual([...new Set(ids)]);
    expect(Object.values(PATHS).flatMap((operations) => Object.keys(operations))).toHaveLength(ids.length);
  });

  it('include every path that a model lists', async () => {
    const index = new RouteIndex(ROUTES);
    const { body } = await gateway.send<{ data: { paths: string[] }[] }>('GET', '/v1/models');
    const paths = [...new Set(body.data.flatMap((model) => model.paths))];
    expect(paths.filter((path) => index.find('POST', path).pattern === undefined)).toEqual([]);
  });
});
