import { KEY_SCOPES } from '#features';
import type { JsonObject } from '#contracts';
import { Controller, Get } from '@nestjs/common';
import { startTestGateway, type TestGateway } from '../../gateway/src/testing/test-gateway.js';
import { CONTROLLERS } from './controllers.js';
import { type DeclaredRoute, declaredRoutes } from './http/declared-routes.js';
import { isTextStyle } from './http/request-style.js';
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

const HAS_BODY = new Set(['POST', 'PATCH']);
/** Their refusals have a shape of their own, so they look at the key themselves. */
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

  it('stand at every route that the server has, and at no other', () => {
    const served = gateway.routes().map(([method, path]) => `${method} ${path}`);
    expect(ROUTES.map(nameOf).sort()).toEqual(served.sort());
  });

  it('cannot be forgotten: a route without them stops the start', () => {
    expect(() => declaredRoutes([...CONTROLLERS, SilentController])).toThrow(
      'SilentController.read needs @Routes and @Route',
    );
  });

  it('say of every route what it is about, so that metrics count none as other', () => {
    expect(where(({ facts }) => facts.style === 'other')).toEqual([]);
  });

  it('give every route of key holders the scope that it needs', () => {
    expect(where(({ facts }) => facts.access === 'key' && facts.scope === undefined)).toEqual([]);
    expect(KEY_SCOPES.filter((scope) => !ROUTES.some(({ facts }) => facts.scope === scope))).toEqual(['account']);
  });

  it('limit whatever key holders change, pay for or list', () => {
    expect(
      where(({ method, facts }) => facts.access === 'key' && method !== 'GET' && facts.cost === undefined),
    ).toEqual([]);
  });

  it('let only routes for everybody and for operators go without a key', () => {
    expect(where(({ facts }) => facts.access === 'open')).toEqual([
      'GET /healthz',
      'GET /readyz',
      'GET /files/*key',
      'POST /callbacks/v1/:upstream/:token',
      'GET /openapi.json',
      'GET /docs',
      'GET /docs/:asset',
    ]);
    const isBelowAdmin = ({ path }: DeclaredRoute): boolean => path.startsWith('/admin/v1/') || path === '/metrics';
    expect(where(({ facts }) => facts.access === 'operator')).toEqual(where(isBelowAdmin));
  });

  it('let pages of other origins call the text routes and the balances, and nothing else', () => {
    expect(where(({ facts }) => facts.cors)).toEqual(
      where((route) => isTextStyle(route.facts.style) || isBalance(route)),
    );
  });

  it('take large bodies only where images or files are sent', () => {
    const large = where(({ method, facts }) => method !== 'GET' && facts.body !== 'fields' && facts.body !== 'unread');
    expect(large).toEqual(
      where(
        ({ method, path, facts }) =>
          (method === 'POST' && isTextStyle(facts.style) && !path.endsWith('/cancel')) ||
          (facts.style === 'console' && facts.cost === 'text') ||
          facts.cost === 'task' ||
          path.endsWith('/quote') ||
          path === '/console/api/uploads' ||
          (method === 'POST' && path.endsWith('/v1/files')),
      ),
    );
  });

  it('are those that the OpenAPI document tells: parameters, body and who may call', () => {
    for (const { method, path, facts, operation } of ROUTES) {
      if (!operation) continue;
      const told = PATHS[path.replaceAll(/[:*](\w+)/g, '{$1}')]?.[method.toLowerCase()];
      const inPath = told?.parameters?.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      const schemes = told?.security?.flatMap((scheme) => Object.keys(scheme));
      const expected = { key: undefined, operator: ['adminToken'], session: [], open: [] }[facts.access];
      expect([path, told?.operationId, inPath ?? []]).toEqual([path, operation.id, names(path, /[:*](\w+)/g)]);
      expect([path, schemes]).toEqual([path, expected]);
      expect([path, told?.requestBody === undefined || HAS_BODY.has(method)]).toEqual([path, true]);
    }
  });

  it('are told once each: no operation has the id of another', () => {
    const ids = ROUTES.flatMap(({ operation }) => operation?.id ?? []);
    expect(ids).toEqual([...new Set(ids)]);
    expect(Object.values(PATHS).flatMap((operations) => Object.keys(operations))).toHaveLength(ids.length);
  });

  it('have every path at which a model says that it is called', async () => {
    const index = new RouteIndex(ROUTES);
    const { body } = await gateway.send<{ data: { paths: string[] }[] }>('GET', '/v1/models');
    const paths = [...new Set(body.data.flatMap((model) => model.paths))];
    expect(paths.filter((path) => index.find('POST', path).pattern === undefined)).toEqual([]);
  });
});
