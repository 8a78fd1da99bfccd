import type { JsonObject } from '#contracts';
import { operationsOf } from '../../http/operation.js';
import { ID, listOf, native, pageParameters, TIME, TIME_OR_NULL } from '../uploads/uploads.openapi.js';

const COUNT = { type: 'integer' } as const;

/** How far files are. */
export const FILE_COUNTS: JsonObject = {
  type: 'object',
  properties: { in_progress: COUNT, completed: COUNT, failed: COUNT, cancelled: COUNT, total: COUNT },
};

const EXPIRES_AFTER: JsonObject = {
  type: ['object', 'null'],
  properties: { anchor: { const: 'last_active_at' }, days: { type: 'integer', minimum: 1, maximum: 365 } },
};

const METADATA: JsonObject = {
  type: 'object',
  maxProperties: 16,
  additionalProperties: { type: 'string', maxLength: 512 },
};

/** How files are cut into passages. */
export const CHUNKING: JsonObject = {
  type: 'object',
  required: ['type'],
  properties: {
    type: { type: 'string', enum: ['auto', 'static'] },
    static: {
      type: 'object',
      properties: {
        max_chunk_size_tokens: { type: 'integer', minimum: 100, maximum: 4_096, default: 800 },
        chunk_overlap_tokens: { type: 'integer', minimum: 0, default: 400, description: 'At most half of the size.' },
      },
    },
  },
};

const SETTINGS: JsonObject = {
  name: { type: ['string', 'null'], maxLength: 256 },
  description: { type: ['string', 'null'], maxLength: 512 },
  metadata: METADATA,
  expires_after: EXPIRES_AFTER,
};

const STORE: JsonObject = {
  id: ID,
  object: { const: 'vector_store' },
  created_at: TIME,
  ...SETTINGS,
  usage_bytes: { type: 'integer', description: 'Of the text of its passages.' },
  file_counts: FILE_COUNTS,
  status: { type: 'string', enum: ['in_progress', 'completed', 'expired'] },
  expires_at: TIME_OR_NULL,
  last_active_at: TIME,
};

export const BODY_ERRORS = [
  'invalid_parameter',
  'missing_parameter',
  'unknown_parameter',
  'not_found',
  'conflict',
] as const;

const RESULT: JsonObject = {
  file_id: ID,
  filename: { type: 'string' },
  score: { type: 'number', minimum: 0, maximum: 1 },
  attributes: { type: 'object' },
  content: {
    type: 'array',
    items: { type: 'object', properties: { type: { const: 'text' }, text: { type: 'string' } } },
  },
  start: { type: 'integer', description: 'Where the passage begins in the text of the file, in characters (UTF-16).' },
  end: { type: 'integer' },
  page: { type: ['integer', 'null'], description: 'Of PDFs and slides.' },
};

export const VECTOR_STORE_OPERATIONS = operationsOf('Vector stores', {
  createVectorStore: {
    summary: 'Make a vector store',
    body: {
      type: 'object',
      properties: { ...SETTINGS, file_ids: { type: 'array', items: ID, maxItems: 500 }, chunking_strategy: CHUNKING },
    },
    answer: native(STORE),
    errors: BODY_ERRORS,
  },
  listVectorStores: {
    summary: 'List vector stores',
    parameters: pageParameters(20, 100),
    answer: listOf(STORE),
    errors: ['invalid_parameter'],
  },
  readVectorStore: {
    summary: 'Read a vector store',
    answer: native(STORE),
    errors: ['not_found'],
  },
  changeVectorStore: {
    summary: 'Change a vector store',
    body: { type: 'object', properties: SETTINGS },
    answer: native(STORE),
    errors: BODY_ERRORS,
  },
  deleteVectorStore: {
    summary: 'Delete a vector store',
    description: 'Its files stay.',
    answer: native({ id: ID, object: { const: 'vector_store.deleted' }, deleted: { const: true } }),
    errors: ['not_found'],
  },
  searchVectorStore: {
    summary: 'Search a vector store',
    description: 'By words, in any language, including scripts without spaces.',
    body: {
      type: 'object',
      required: ['query'],
      properties: {
        query: {
          oneOf: [
            { type: 'string', maxLength: 4_096 },
            { type: 'array', maxItems: 8, items: { type: 'string' } },
          ],
        },
        max_num_results: { type: 'integer', minimum: 1, maximum: 50, default: 10 },
        filters: {
          type: 'object',
          description: 'Compares attributes (eq, ne, gt, gte, lt, lte, in, nin), joined by and, or.',
        },
        ranking_options: {
          type: 'object',
          properties: {
            ranker: { type: 'string', enum: ['auto', 'none', 'default-2024-11-15'] },
            score_threshold: { type: 'number', minimum: 0, maximum: 1, default: 0 },
            hybrid_search: {
              type: 'object',
              description: 'Weights of meaning and words, where both are compared.',
              properties: {
                embedding_weight: { type: 'number', minimum: 0, maximum: 1_000 },
                text_weight: { type: 'number', minimum: 0, maximum: 1_000 },
              },
            },
          },
        },
        rewrite_query: { const: false },
      },
    },
    answer: native({
      object: { const: 'vector_store.search_results.page' },
      search_query: { type: 'array', items: { type: 'string' } },
      data: { type: 'array', items: { type: 'object', properties: RESULT } },
      has_more: { const: false },
      next_page: { type: 'null' },
    }),
    errors: ['invalid_parameter', 'missing_parameter', 'unknown_parameter', 'not_found'],
  },
});
