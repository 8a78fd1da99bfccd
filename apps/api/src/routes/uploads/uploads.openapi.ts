import type { JsonObject } from '#contracts';
import { FILE_PURPOSES } from '#features';
import { inQuery, operationsOf } from '../../http/operation.js';

/** Fields beside `code`. */
export const native = (properties: JsonObject): JsonObject => ({
  type: 'object',
  required: ['code', ...Object.keys(properties)],
  properties: { code: { const: 200 }, ...properties },
});

export const ID = { type: 'string' } as const;
export const TIME = { type: 'integer', description: 'Seconds since 1970.' } as const;
export const TIME_OR_NULL = { type: ['integer', 'null'], description: 'Seconds since 1970.' } as const;
const PURPOSE = { type: 'string', enum: [...FILE_PURPOSES] } as const;

const FILE: JsonObject = {
  id: ID,
  object: { const: 'file' },
  bytes: { type: 'integer' },
  created_at: TIME,
  expires_at: TIME_OR_NULL,
  filename: { type: 'string' },
  purpose: PURPOSE,
  status: { const: 'processed' },
  status_details: { type: 'null' },
};

export const listOf = (properties: JsonObject): JsonObject =>
  native({
    object: { const: 'list' },
    data: { type: 'array', items: { type: 'object', properties } },
    first_id: { type: ['string', 'null'] },
    last_id: { type: ['string', 'null'] },
    has_more: { type: 'boolean' },
  });

/** Which part. */
export const pageParameters = (limit: number, maximum: number): readonly JsonObject[] => [
  inQuery('limit', 'How many of them.', { type: 'integer', minimum: 1, maximum, default: limit }),
  inQuery('order', 'By age.', { type: 'string', enum: ['asc', 'desc'], default: 'desc' }),
  inQuery('after', 'The `last_id` of the part before.', { type: 'string' }),
  inQuery('before', 'Ends in front of this id.', { type: 'string' }),
];

export const UPLOAD_OPERATIONS = operationsOf('Files', {
  uploadFile: {
    summary: 'Upload a file',
    description:
      'Files with the purpose `assistants` or `user_data` are searched by `file_search` directly; others once they are added to a vector store. The type is detected by content, not by name.',
    form: {
      type: 'object',
      required: ['file', 'purpose'],
      properties: {
        file: { type: 'string', format: 'binary' },
        purpose: PURPOSE,
        'expires_after[anchor]': { const: 'created_at' },
        'expires_after[seconds]': { type: 'integer', minimum: 3_600, maximum: 2_592_000 },
      },
    },
    answer: native(FILE),
    errors: [
      'invalid_parameter',
      'missing_parameter',
      'unknown_parameter',
      'request_too_large',
      'request_timeout',
      'insufficient_balance',
      'unsupported_media_type',
      'idempotency_mismatch',
      'overloaded',
    ],
  },
  listFiles: {
    summary: 'List files',
    parameters: [...pageParameters(10_000, 10_000), inQuery('purpose', 'Of this purpose.', PURPOSE)],
    answer: listOf(FILE),
    errors: ['invalid_parameter'],
  },
  readUploadedFile: {
    summary: "Read a file's metadata",
    answer: native(FILE),
    errors: ['not_found'],
  },
  readFileContent: {
    summary: 'Read the bytes of a file',
    description: 'Sent as an attachment without a type, so that browsers do not display it.',
    answer: {
      description: 'The file.',
      content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
    },
    errors: ['not_found', 'unavailable'],
  },
  deleteFile: {
    summary: 'Delete a file',
    description: 'It is no longer found; its bytes are removed before the response, its passages within minutes.',
    answer: native({ id: ID, object: { const: 'file' }, deleted: { const: true } }),
    errors: ['not_found'],
  },
});
