import { componentSchemas, type JsonObject } from '#contracts';
import { VERSION } from '#platform';
import { ACCOUNT_PATHS } from './account-paths.js';
import { ADMIN_PATHS } from './admin-paths.js';
import { ANSWER_SCHEMAS } from './answer-schemas.js';
import { MEDIA_PATHS } from './media-paths.js';
import { TEXT_PATHS } from './text-paths.js';
import { USAGE_PATHS } from './usage-paths.js';
import { WEBHOOK_PATHS } from './webhook-paths.js';
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

const PATHS: JsonObject = {
  ...TEXT_PATHS,
  ...MEDIA_PATHS,
  ...WEBHOOK_PATHS,
  ...ACCOUNT_PATHS,
  ...USAGE_PATHS,
  ...ADMIN_PATHS,
};

/** Every method and path that the document describes, its own two addresses apart. */
export const documentedRoutes = (): { readonly method: string; readonly path: string }[] =>
  Object.entries(PATHS).flatMap(([path, operations]) =>
    Object.keys(operations as JsonObject).map((method) => ({ method: method.toUpperCase(), path })),
  );

/** The public API and that of operators as OpenAPI 3.1. The bodies of video and image requests come from the same tables that check them. */
export const openapiDocument = (): JsonObject => ({
  openapi: '3.1.0',
  info: {
    title: 'Generation gateway',
    version: VERSION,
    description:
      'Text in three styles, and videos and images as tasks. Successful answers carry `code: 200`; every answer carries `x-request-id`.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/', description: 'This gateway' }],
  security: [{ bearer: [] }, { apiKey: [] }, { googleApiKey: [] }],
  tags: TAGS.map((name) => ({ name })),
  paths: PATHS,
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
