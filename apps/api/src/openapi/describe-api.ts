import { componentSchemas, type JsonObject } from '#contracts';
import { VERSION } from '#platform';
import type { DeclaredRoute } from '../http/declared-routes.js';
import { ANSWER_SCHEMAS } from './answer-schemas.js';
import { operation } from '../http/operation.js';
import { WEBHOOK_SCHEMAS } from './webhook-schemas.js';

const TAGS = [
  'Text',
  'Videos',
  'Images',
  'Tasks',
  'Webhooks',
  'Prices',
  'Models',
  'Account',
  'Files',
  'Operations',
  'Admin',
];

/** The public API and that of operators as OpenAPI 3.1. The bodies of video and image requests come from the same tables that check them. */
export const describeApi = (routes: readonly DeclaredRoute[]): JsonObject => ({
  openapi: '3.1.0',
  info: {
    title: 'Generation gateway',
    version: VERSION,
    description:
      'Text in four styles, and videos and images as tasks. Successful answers carry `code: 200`; every answer carries `x-request-id`.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/', description: 'This gateway' }],
  security: [{ bearer: [] }, { apiKey: [] }, { googleApiKey: [] }],
  tags: TAGS.map((name) => ({ name })),
  paths: pathsOf(routes),
  components: {
    schemas: { ...componentSchemas(), ...ANSWER_SCHEMAS, ...WEBHOOK_SCHEMAS },
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer' },
      apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      adminToken: { type: 'http', scheme: 'bearer', description: 'ADMIN_TOKEN, for operators only.' },
      googleApiKey: { type: 'apiKey', in: 'header', name: 'x-goog-api-key' },
    },
  },
});

function pathsOf(routes: readonly DeclaredRoute[]): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const { method, path, facts, operation: text } of routes) {
    if (text) (paths[inOpenapi(path)] ??= {})[method.toLowerCase()] = operation(text, facts.access);
  }
  return paths;
}

/** Every method and path that the document describes, in its spelling. */
export const documentedRoutes = (
  routes: readonly DeclaredRoute[],
): { readonly method: string; readonly path: string }[] =>
  routes.flatMap(({ method, path, operation: text }) => (text ? [{ method, path: inOpenapi(path) }] : []));

/** `:task_id` and `*key` as OpenAPI writes them. */
const inOpenapi = (path: string): string => path.replaceAll(/[:*](\w+)/g, '{$1}');
