import type { JsonObject } from '#contracts';
import { envelope, inPath, operation, schemaOf } from './operation.js';

const USER_BALANCE = (id: string): JsonObject => ({
  get: operation({
    id,
    tag: 'Account',
    summary: 'The balance of the account',
    description: 'In a shape of its own, without the envelope.',
    answer: schemaOf('UserBalance'),
  }),
});

/** Models, balances and what needs no key. */
export const ACCOUNT_PATHS: JsonObject = {
  '/v1/models': {
    get: operation({
      id: 'listModels',
      tag: 'Models',
      summary: 'List models with their fields, rules and prices',
      answer: {
        type: 'object',
        required: ['code', 'object', 'data'],
        properties: {
          code: { const: 200 },
          object: { const: 'list' },
          data: { type: 'array', items: schemaOf('Model') },
          has_more: { type: 'boolean' },
          first_id: { type: ['string', 'null'] },
          last_id: { type: ['string', 'null'] },
        },
      },
    }),
  },
  '/v1/models/{model}': {
    get: operation({
      id: 'readModel',
      tag: 'Models',
      summary: 'Read a model',
      parameters: [inPath('model', 'The identifier, exactly.')],
      answer: { allOf: [envelope(schemaOf('Model')), schemaOf('Model')] },
      errors: ['model_not_found'],
    }),
  },
  '/v1/user/balance': USER_BALANCE('readUserBalance'),
  '/user/balance': USER_BALANCE('readUserBalanceWithoutVersion'),
  '/v1/balance': {
    get: operation({
      id: 'readKeyBalance',
      tag: 'Account',
      summary: 'What the key used and may still use',
      answer: schemaOf('UserBalance'),
    }),
  },
  '/healthz': {
    get: operation({
      id: 'isAlive',
      tag: 'Operations',
      summary: 'Whether the process answers, and its version',
      answer: { type: 'object', properties: { status: { const: 'alive' }, version: { type: 'string' } } },
      open: true,
    }),
  },
  '/readyz': {
    get: operation({
      id: 'isReady',
      tag: 'Operations',
      summary: 'Whether the process should be given work, part by part',
      answer: {
        type: 'object',
        properties: {
          status: { enum: ['ready', 'degraded', 'not_ready'] },
          reasons: { type: 'array', items: { type: 'string' } },
          parts: { type: 'object' },
        },
      },
      errors: ['unavailable'],
      open: true,
    }),
  },
  '/files/{key}': {
    get: operation({
      id: 'readFile',
      tag: 'Files',
      summary: 'Read a result file by its signed link',
      description: 'The link itself is the permission. Answers ranges.',
      parameters: [inPath('key', 'As the link has it; it may hold slashes.')],
      answer: { description: 'The file.', content: { '*/*': { schema: { type: 'string', format: 'binary' } } } },
      errors: ['permission_denied', 'link_expired', 'not_found', 'range_not_satisfiable'],
      open: true,
    }),
  },
};
