import { type JsonObject, MODEL_IDS } from '#contracts';
import { RequestMethod } from '@nestjs/common';
import { GUARDS_METADATA, METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { startTestGateway, type TestGateway } from '../../../gateway/src/testing/test-gateway.js';
import { createApi } from '../create-api.js';
import { openapiDocument } from './openapi-document.js';

interface Route {
  readonly method: string;
  /** In the spelling of OpenAPI. */
  readonly path: string;
  readonly guards: readonly string[];
}

/** Routes that need no key, each for its reason. */
const OPEN: readonly string[] = [
  'GET /healthz', // orchestrators have no key
  'GET /readyz',
  'GET /metrics', // on a port of its own in production
  'GET /openapi.json', // a description of what is public
  'GET /docs',
  'GET /docs/{asset}',
  'GET /files/{key}', // the signed link is the permission
  'GET /v1/user/balance', // checks the key itself, because its refusals have a form of their own
  'GET /user/balance',
  'GET /v1/balance',
];

/** What the document leaves out: spellings for client libraries, operators' own paths and the description itself. */
const UNDOCUMENTED =
  /^\/(v1\/v1\/|responses|messages|models\/|v1\/models\/\{target\}|admin\/|metrics|docs|openapi\.json)/;

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

describe('The routes of the API', () => {
  let gateway: TestGateway;
  let routes: Route[];
  const nameOf = ({ method, path }: Route): string => `${method} ${path}`;

  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false });
    const app = await createApi(gateway.platform);
    const modules = [...app.get(ModulesContainer).values()];
    routes = modules
      .flatMap((module) => [...module.controllers.values()])
      .flatMap(({ metatype }) => routesOf(metatype as Function));
    await app.close();
  });
  afterAll(() => gateway.stop());

  it('are guarded, all but those that are open for a reason', () => {
    expect(routes.length).toBeGreaterThan(20);
    const unguarded = routes.filter(({ guards }) => guards.length === 0).map(nameOf);
    expect(unguarded.toSorted()).toEqual([...OPEN].sort());
  });

  it('refuse a request without a key', async () => {
    for (const { method, path, guards } of routes.filter((route) => route.guards.length > 0)) {
      const { status } = await gateway.send(method, path.replaceAll(/\{\w+\}/g, 'x'), undefined, {});
      expect([method, path, guards, status]).toEqual([method, path, guards, 401]);
    }
  });

  it('are all described by the document, and the document describes no other', () => {
    const documented = Object.entries(openapiDocument()['paths'] as JsonObject).flatMap(([path, operations]) =>
      Object.keys(operations as JsonObject).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const served = routes.filter(({ path }) => !UNDOCUMENTED.test(path)).map(nameOf);
    expect(documented.toSorted()).toEqual([...new Set(served)].sort());
  });

  it('are described by a valid OpenAPI 3.1 document that names every model', async () => {
    const result = await new Validator().validate(openapiDocument());
    expect(result).toMatchObject({ valid: true });
    const text = JSON.stringify(openapiDocument());
    expect(MODEL_IDS.filter((model) => !text.includes(`"${model}"`))).toEqual([]);
  });

  it('accept every example of a video or image body that the document shows', async () => {
    const { schemas } = openapiDocument()['components'] as { schemas: Record<string, { examples?: JsonObject[] }> };
    const examples = Object.values(schemas).flatMap((schema) => schema.examples ?? []);
    expect(examples).toHaveLength(16);
    for (const example of examples) {
      const { status, body } = await gateway.send('POST', '/v1/quote', example);
      expect([example, status, body]).toMatchObject([example, 200, { data: { valid: true, model: example['model'] } }]);
    }
  });
});
