import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { CATALOG, type JsonObject, MODEL_IDS } from '#contracts';
import { RequestMethod } from '@nestjs/common';
import { GUARDS_METADATA, METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { Express } from 'express';
import { Client } from 'undici';
import { startTestGateway, TEST_KEY, type TestGateway } from '../../../../tests/harness/test-gateway.js';
import { createApi } from '../create-api.js';
import { openapiDocument } from './openapi-document.js';

interface Route {
  readonly method: string;
  /** In the spelling of OpenAPI. */
  readonly path: string;
  readonly guards: readonly string[];
}

/** What of an ingress is read. */
interface Ingress {
  readonly kind: string;
  readonly spec: { readonly rules: readonly { readonly http: { readonly paths: readonly { path: string }[] } }[] };
}

/** The guard of each route. A route missing here fails the test, so that none is opened by accident. */
const LET_IN_BY: Readonly<Record<string, readonly string[]>> = {
  ApiKeyGuard: [
    'GET /v1/tasks/{task_id}',
    'GET /v1/tasks/{task_id}/events',
    'GET /v1/models',
    'GET /v1/models/{model}',
    'GET /v1beta/models',
    'GET /v1beta/models/{target}',
  ],
  // What costs money or work is limited by the minute besides.
  'ApiKeyGuard and RateLimitGuard': [
    'GET /v1/webhooks/signing-secret',
    'GET /v1/webhooks/deliveries/{delivery_id}',
    'GET /v1/responses/{id}',
    'DELETE /v1/webhooks/endpoints/{endpoint_id}',
    'POST /v1/files',
    'GET /v1/files',
    'GET /v1/files/{file_id}',
    'GET /v1/files/{file_id}/content',
    'DELETE /v1/files/{file_id}',
    'POST /v1/vector_stores',
    'GET /v1/vector_stores',
    'GET /v1/vector_stores/{vector_store_id}',
    'POST /v1/vector_stores/{vector_store_id}',
    'DELETE /v1/vector_stores/{vector_store_id}',
    'POST /v1/vector_stores/{vector_store_id}/search',
    'POST /v1/vector_stores/{vector_store_id}/files',
    'GET /v1/vector_stores/{vector_store_id}/files',
    'GET /v1/vector_stores/{vector_store_id}/files/{file_id}',
    'POST /v1/vector_stores/{vector_store_id}/files/{file_id}',
    'DELETE /v1/vector_stores/{vector_store_id}/files/{file_id}',
    'GET /v1/vector_stores/{vector_store_id}/files/{file_id}/content',
    'POST /v1/vector_stores/{vector_store_id}/file_batches',
    'GET /v1/vector_stores/{vector_store_id}/file_batches/{batch_id}',
    'POST /v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/cancel',
    'GET /v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/files',
    'GET /v1/ledger',
    'GET /v1/tasks',
    'GET /v1/usage',
    'GET /v1/usage/records',
    'GET /v1/webhooks/deliveries',
    'GET /v1/webhooks/endpoints',
    'POST /v1/quote',
    'POST /v1/tasks/batch',
    'POST /v1/tasks/{task_id}/cancel',
    'POST /v1/webhooks/deliveries/{delivery_id}/resend',
    'POST /v1/webhooks/endpoints',
    'POST /v1/webhooks/endpoints/{endpoint_id}/rotate-secret',
    'POST /v1/webhooks/endpoints/{endpoint_id}/test',
    'POST /v1/webhooks/signing-secret/rotate',
    'POST /v1/videos/generations',
    'POST /v1/images/generations',
    'POST /v1/images/edits',
    'POST /v1/responses',
    'POST /v1/responses/compact',
    'POST /v1/responses/input_tokens',
    'POST /v1/responses/{id}/cancel',
    'GET /v1/responses/{id}/input_items',
    'DELETE /v1/responses/{id}',
    'POST /v1/chat/completions',
    'POST /v1/embeddings',
    'POST /v1/messages',
    'POST /v1/messages/count_tokens',
    'POST /v1beta/models/{target}',
  ],
  // Stands in front of the whole tree below /admin/v1, whatever is added there.
  adminGate: ['everything below /admin/v1'],
  // The same below /console/api; its own specs walk those routes.
  consoleGate: ['everything below /console/api'],
  MetricsGuard: ['GET /metrics'],
  open: [
    'GET /healthz', // orchestrators have no key
    'GET /readyz',
    'GET /openapi.json', // a description of what is public
    'GET /llms.txt',
    'GET /docs',
    'GET /docs/{asset}',
    'GET /files/{key}', // the signed link is the permission
    'POST /callbacks/v1/{upstream}/{token}', // the sealed address is the permission
    'GET /v1/user/balance', // checks the key itself, because its refusals have a form of their own
    'GET /user/balance',
    'GET /v1/balance',
  ],
};

/** What the document leaves out: spellings for client libraries, operators' own paths and the description itself. */
const UNDOCUMENTED = /^\/(callbacks\/|metrics|docs|llms\.txt|openapi\.json|console\/api\/)/;

const asList = (value: string | string[] | undefined): string[] => (Array.isArray(value) ? value : [value ?? '']);

const join = (...parts: string[]): string =>
  `/${parts
    .flatMap((part) => part.split('/'))
    .filter(Boolean)
    .join('/')}`;

/** `:task_id` and `*key` as OpenAPI writes them. */
const spell = (path: string): string => path.replaceAll(/[:*](\w+)/g, '{$1}');

const guardsOf = (target: object): string[] =>
  ((Reflect.getMetadata(GUARDS_METADATA, target) ?? []) as { name?: string }[]).map((guard) => guard.name ?? 'a guard');

function routesOf(controller: Function): Route[] {
  const prototype = controller.prototype as Record<string, unknown>;
  const handlers = Object.getOwnPropertyNames(prototype)
    .map((name) => prototype[name])
    .filter((member): member is Function => typeof member === 'function');
  return handlers.flatMap((handler) => {
    const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
    if (method === undefined) return [];
    return asList(Reflect.getMetadata(PATH_METADATA, controller) as string | string[] | undefined).flatMap((prefix) =>
      asList(Reflect.getMetadata(PATH_METADATA, handler) as string | string[] | undefined).map((path) => ({
        method: RequestMethod[method],
        path: spell(join(prefix, path)),
        guards: [...guardsOf(controller), ...guardsOf(handler)],
      })),
    );
  });
}

const isAdmin = (route: string): boolean => / \/admin\/v1(\/|$)/.test(route);
const isConsole = (route: string): boolean => / \/console\/api(\/|$)/.test(route);

/** What precedes the path of a route, and what the table of routes calls it. */
function doorOf(route: Route, name: string): [guard: string, shown: string] {
  if (isAdmin(name)) return ['adminGate', 'everything below /admin/v1'];
  if (isConsole(name)) return ['consoleGate', 'everything below /console/api'];
  return [route.guards.join(' and ') || 'open', name];
}

/** Sorted, so that tables compare whatever their order. */
const sorted = (table: Readonly<Record<string, readonly string[]>>) =>
  Object.fromEntries(Object.entries(table).map(([guard, routes]) => [guard, [...new Set(routes)].sort()]));

describe('The routes of the API', () => {
  let gateway: TestGateway;
  let routes: Route[];
  let mounted: number;
  const nameOf = ({ method, path }: Route): string => `${method} ${path}`;

  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false });
    const app = await createApi(gateway.platform);
    await app.init();
    const modules = [...app.get(ModulesContainer).values()];
    const declared = modules
      .flatMap((module) => [...module.controllers.values()])
      .flatMap(({ metatype }) => routesOf(metatype as Function));
    const guards = new Map(declared.map((route) => [nameOf(route), route.guards]));
    // The server itself says what it answers, so that nothing registered past the controllers is forgotten.
    routes = gateway.routes().map(([method, path]) => {
      const route = { method, path: spell(path), guards: [] };
      return { ...route, guards: guards.get(nameOf(route)) ?? [] };
    });
    const server: Express = app.getHttpAdapter().getInstance();
    mounted = server.router.stack.filter(({ route, handle }) => !route && 'stack' in handle).length;
    await app.close();
  });
  afterAll(() => gateway.stop());

  it('have the guard that the table names', () => {
    const found: Record<string, string[]> = {};
    for (const route of routes) {
      const [guard, shown] = doorOf(route, nameOf(route));
      (found[guard] ??= []).push(shown);
    }
    expect(sorted(found)).toEqual(sorted(LET_IN_BY));
  });

  it('are reached through the ingress of the chart, but those of operators', () => {
    const paths = parseAllDocuments(readFileSync('deploy/helm/rendered/everything.yaml', 'utf8'))
      .map((document) => document.toJS() as Ingress | null)
      .flatMap((manifest) => (manifest?.kind === 'Ingress' ? manifest.spec.rules : []))
      .flatMap(({ http }) => http.paths.map(({ path }) => path));
    const isReached = (path: string): boolean => paths.some((own) => path === own || path.startsWith(`${own}/`));
    const isOfOperators = (path: string): boolean => /^\/(?:admin|ops|metrics|healthz|readyz)(?:\/|$)/.test(path);
    const served = [...new Set([...routes.map(({ path }) => path), '/console', '/ops'])];
    expect(served.filter((path) => isReached(path) === isOfOperators(path))).toEqual([]);
  });

  it('have one other router beside them, the pages of operators below /ops', () => {
    expect(mounted).toBe(1);
  });

  let addresses = 0;

  /** Sends from an address of its own, because guesses from one address are throttled. */
  async function statusOf(method: string, path: string, headers: Record<string, string>): Promise<number> {
    addresses += 1;
    const localAddress = `127.1.${addresses >> 8}.${addresses & 255}`;
    const client = new Client(gateway.baseUrl, { localAddress });
    const request = { method: method as 'GET', path: path.replaceAll(/\{\w+\}/g, 'x'), headers };
    const { statusCode, body } = await client.request(request);
    await body.dump();
    await client.close();
    return statusCode;
  }

  it.each([
    ['without a key', {}],
    ['through a proxy, without a key', { 'x-forwarded-for': '192.0.2.1' }],
    ['with an unknown key', { authorization: 'Bearer sk-unknown-1' }],
  ])('refuse a request %s, unless they are open', async (_how, headers: Record<string, string>) => {
    const isStranger = 'authorization' in headers || 'x-forwarded-for' in headers;
    const guarded = routes
      .filter((route) => !isConsole(nameOf(route)))
      .filter((route) => isAdmin(nameOf(route)) || route.guards.length > 0);
    for (const { method, path } of guarded.filter((route) => isStranger || !route.guards.includes('MetricsGuard'))) {
      expect([method, path, await statusOf(method, path, headers)]).toEqual([method, path, 401]);
    }
  });

  it('for operators refuse the key of a customer', async () => {
    const own = routes.filter((route) => isAdmin(nameOf(route)) || route.guards.includes('MetricsGuard'));
    expect(own.length).toBeGreaterThan(10);
    for (const { method, path } of own) {
      const status = await statusOf(method, path, { authorization: `Bearer ${TEST_KEY}` });
      expect([method, path, status]).toEqual([method, path, 401]);
    }
  });

  it('are exactly those in the document', () => {
    const documented = Object.entries(openapiDocument()['paths'] as JsonObject).flatMap(([path, operations]) =>
      Object.keys(operations as JsonObject).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const served = routes.filter(({ path }) => !UNDOCUMENTED.test(path)).map(nameOf);
    expect(documented.toSorted()).toEqual([...new Set(served)].sort());
  });

  it('are described by a valid OpenAPI 3.1 document that lists every model', async () => {
    const result = await new Validator().validate(openapiDocument());
    expect(result).toMatchObject({ valid: true });
    const text = JSON.stringify(openapiDocument());
    expect(MODEL_IDS.filter((model) => !text.includes(`"${model}"`))).toEqual([]);
  });

  it('accept every example of a video or image body in the document', async () => {
    const { schemas } = openapiDocument()['components'] as { schemas: Record<string, { examples?: JsonObject[] }> };
    const examples = Object.values(schemas).flatMap((schema) => schema.examples ?? []);
    expect(examples).toHaveLength(CATALOG.length);
    for (const example of examples) {
      const { status, body } = await gateway.send('POST', '/v1/quote', example);
      expect([example, status, body]).toMatchObject([example, 200, { data: { valid: true, model: example['model'] } }]);
    }
  });
});
