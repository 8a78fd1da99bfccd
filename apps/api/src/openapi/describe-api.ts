import { componentSchemas, type JsonObject } from '#contracts';
import { VERSION } from '#platform';
import type { DeclaredRoute } from '../http/declared-routes.js';
import { operation } from '../http/operation.js';
import { ANSWER_SCHEMAS } from './answer-schemas.js';

const TIME: JsonObject = { type: 'integer', description: 'Unix seconds.' };

const WEBHOOK_SCHEMAS: JsonObject = {
  WebhookEndpoint: {
    type: 'object',
    required: ['id', 'object', 'url', 'event_types', 'created'],
    properties: {
      id: { type: 'string' },
      object: { const: 'webhook_endpoint' },
      url: { type: 'string' },
      event_types: { type: 'array', items: { type: 'string' } },
      created: TIME,
      secret: { type: 'string', description: 'Shown once, when it was made.' },
    },
  },
  WebhookDelivery: {
    type: 'object',
    required: ['id', 'object', 'status'],
    properties: {
      id: { type: 'string', description: 'The `webhook-id` of every attempt.' },
      object: { const: 'webhook_delivery' },
      event_type: { enum: ['task.completed', 'task.failed', 'task.cancelled', 'balance.low', 'webhook.test'] },
      task_id: { type: ['string', 'null'] },
      endpoint_id: { type: ['string', 'null'] },
      url: { type: 'string' },
      status: { enum: ['pending', 'delivered', 'failed'] },
      attempts: { type: 'integer' },
      last_status: { type: ['integer', 'null'], description: 'HTTP status of the last response.' },
      last_error: { type: ['string', 'null'] },
      created: TIME,
      next_attempt: { type: ['integer', 'null'], description: 'Unix seconds.' },
      log: { type: 'array', items: { type: 'object' }, description: 'Every attempt, when one delivery is read.' },
    },
  },
};

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
      'Text in four styles, and videos and images as tasks. Successful responses have `code: 200`; every response has `x-request-id`.',
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
    if (text) (paths[inOpenapi(path)] ??= {})[method.toLowerCase()] = operation(text, path, facts.access);
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
