import type { JsonObject } from '#contracts';
import { inQuery, operationsOf } from '../../http/operation.js';
import { ID, listOf, native, pageParameters, TIME } from '../uploads/uploads.openapi.js';
import { BODY_ERRORS, CHUNKING, FILE_COUNTS } from './vector-stores.openapi.js';

const ATTRIBUTES: JsonObject = {
  type: 'object',
  maxProperties: 16,
  additionalProperties: { type: ['string', 'number', 'boolean'] },
  description: 'Values that search filters compare.',
};

const STATUS: JsonObject = { type: 'string', enum: ['in_progress', 'completed', 'failed', 'cancelled'] };

const ENTRY: JsonObject = {
  id: ID,
  object: { const: 'vector_store.file' },
  usage_bytes: { type: 'integer' },
  created_at: TIME,
  vector_store_id: ID,
  status: STATUS,
  last_error: {
    type: ['object', 'null'],
    properties: {
      code: { type: 'string', enum: ['unsupported_file', 'invalid_file', 'server_error'] },
      message: { type: 'string' },
    },
  },
  chunking_strategy: CHUNKING,
  attributes: ATTRIBUTES,
};

const BATCH: JsonObject = {
  id: ID,
  object: { const: 'vector_store.files_batch' },
  created_at: TIME,
  vector_store_id: ID,
  status: STATUS,
  file_counts: FILE_COUNTS,
};

const NEW_ENTRY: JsonObject = {
  type: 'object',
  required: ['file_id'],
  properties: { file_id: ID, attributes: ATTRIBUTES, chunking_strategy: CHUNKING },
};

const OF_STATUS = inQuery('filter', 'In this state.', STATUS);

export const VECTOR_STORE_FILE_OPERATIONS = operationsOf('Vector stores', {
  addVectorStoreFile: {
    summary: 'Add a file to a vector store',
    body: NEW_ENTRY,
    answer: native(ENTRY),
    errors: BODY_ERRORS,
  },
  listVectorStoreFiles: {
    summary: 'List the files of a vector store',
    parameters: [...pageParameters(20, 100), OF_STATUS],
    answer: listOf(ENTRY),
    errors: ['invalid_parameter', 'not_found'],
  },
  readVectorStoreFile: {
    summary: 'Read the status of a file in a vector store',
    answer: native(ENTRY),
    errors: ['not_found'],
  },
  changeVectorStoreFile: {
    summary: 'Change the attributes of a file in a vector store',
    body: { type: 'object', properties: { attributes: ATTRIBUTES } },
    answer: native(ENTRY),
    errors: BODY_ERRORS,
  },
  removeVectorStoreFile: {
    summary: 'Remove a file from a vector store',
    description: 'The file itself stays.',
    answer: native({ id: ID, object: { const: 'vector_store.file.deleted' }, deleted: { const: true } }),
    errors: ['not_found'],
  },
  readVectorStoreFileContent: {
    summary: 'Read the text of a file in a vector store',
    description: 'The text to which `start` and `end` of passages refer.',
    answer: native({
      object: { const: 'vector_store.file_content.page' },
      data: {
        type: 'array',
        items: { type: 'object', properties: { type: { const: 'text' }, text: { type: 'string' } } },
      },
      has_more: { const: false },
      next_page: { type: 'null' },
    }),
    errors: ['not_found'],
  },
  addFileBatch: {
    summary: 'Add several files to a vector store',
    description: '`file_ids` with one strategy and the same attributes for all, or `files` with their own.',
    body: {
      type: 'object',
      properties: {
        file_ids: { type: 'array', items: ID, minItems: 1, maxItems: 500 },
        files: { type: 'array', items: NEW_ENTRY, minItems: 1, maxItems: 500 },
        attributes: ATTRIBUTES,
        chunking_strategy: CHUNKING,
      },
    },
    answer: native(BATCH),
    errors: BODY_ERRORS,
  },
  readFileBatch: {
    summary: 'Read how far a batch is',
    answer: native(BATCH),
    errors: ['not_found'],
  },
  cancelFileBatch: {
    summary: 'Cancel a batch',
    description: 'Files of it that are not indexed yet are left out.',
    answer: native(BATCH),
    errors: ['not_found'],
  },
  listFileBatchFiles: {
    summary: 'List the files of a batch',
    parameters: [...pageParameters(20, 100), OF_STATUS],
    answer: listOf(ENTRY),
    errors: ['invalid_parameter', 'not_found'],
  },
});
