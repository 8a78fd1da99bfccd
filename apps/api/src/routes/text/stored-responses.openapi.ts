import type { JsonObject } from '#contracts';
import { INCLUDABLE } from '#features';
import { inQuery, operationsOf, schemaOf } from '../../http/operation.js';

const INCLUDE = inQuery('include', 'Additional contents to return; may be repeated.', {
  type: 'array',
  items: { type: 'string', enum: [...INCLUDABLE] },
});

/** A conversation: what is sent, what is stored, or both. */
const CONVERSATION: JsonObject = {
  type: 'object',
  required: ['model'],
  properties: {
    model: { type: 'string' },
    input: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }, { type: 'null' }] },
    instructions: { type: ['string', 'null'] },
    previous_response_id: { type: ['string', 'null'], description: 'Used instead of `input`, or before it.' },
  },
};

/** Fields in the envelope and beside it. */
const enveloped = (properties: JsonObject): JsonObject => ({
  type: 'object',
  required: ['code', 'data', ...Object.keys(properties)],
  properties: { code: { const: 200 }, data: { type: 'object', properties }, ...properties },
});

const CONVERSATION_ERRORS = [
  'invalid_parameter',
  'missing_parameter',
  'unsupported_parameter',
  'previous_response_not_found',
  'item_not_found',
  'model_not_found',
  'request_too_large',
] as const;

/** The operations on what an account keeps of its responses, and on whole conversations. */
export const STORED_RESPONSE_OPERATIONS = operationsOf('Text', {
  compactResponse: {
    summary: 'Shorten a conversation',
    description:
      'The model summarizes the conversation. Send `output` instead of it: the messages of the user, and a `compaction` item that every upstream understands here.',
    body: CONVERSATION,
    answer: enveloped({
      id: { type: 'string' },
      object: { const: 'response.compaction' },
      created_at: { type: 'integer' },
      output: { type: 'array', items: { type: 'object' } },
      usage: { type: ['object', 'null'] },
    }),
    errors: [...CONVERSATION_ERRORS, 'insufficient_balance', 'upstream_error', 'overloaded', 'upstream_timeout'],
  },
  countResponseTokens: {
    summary: 'Count the input tokens of a responses body',
    body: CONVERSATION,
    answer: enveloped({ object: { const: 'response.input_tokens' }, input_tokens: { type: 'integer' } }),
    errors: CONVERSATION_ERRORS,
  },
  readResponse: {
    summary: 'Read a stored response',
    parameters: [
      inQuery('stream', 'True: returned as a stream of events, each text in one piece.', { type: 'boolean' }),
      inQuery('starting_after', 'Events up to this sequence number are left out.', {
        type: 'integer',
        minimum: 0,
      }),
      INCLUDE,
    ],
    answer: {
      description: 'The response, or its events if a stream was requested.',
      content: {
        'application/json': { schema: schemaOf('TextAnswer') },
        'text/event-stream': { schema: { type: 'string' } },
      },
    },
    errors: ['invalid_parameter', 'not_found'],
  },
  deleteResponse: {
    summary: 'Delete a stored response',
    description: 'Its items are deleted too. Responses that continued it remain, but cannot be continued further.',
    answer: enveloped({ id: { type: 'string' }, object: { const: 'response' }, deleted: { const: true } }),
    errors: ['not_found'],
  },
  listInputItems: {
    summary: 'List the input items of a stored response',
    description:
      'Its own input, preceded by the conversation that it continued, as far as it is stored. Images and encrypted reasoning are returned if `include` names them. A page holds up to 1 MiB of items, or one longer item; `has_more` says that there are more.',
    parameters: [
      inQuery('limit', 'Items of one page.', { type: 'integer', minimum: 1, maximum: 100, default: 20 }),
      inQuery('order', 'By age.', { type: 'string', enum: ['asc', 'desc'], default: 'desc' }),
      inQuery('after', 'The `last_id` of the page before.', { type: 'string' }),
      INCLUDE,
    ],
    answer: {
      type: 'object',
      required: ['code', 'object', 'data', 'first_id', 'last_id', 'has_more'],
      properties: {
        code: { const: 200 },
        object: { const: 'list' },
        data: { type: 'array', items: { type: 'object' } },
        first_id: { type: ['string', 'null'] },
        last_id: { type: ['string', 'null'] },
        has_more: { type: 'boolean' },
      },
    },
    errors: ['invalid_parameter', 'not_found', 'request_too_large'],
  },
  cancelResponse: {
    summary: 'Cancel a response',
    description:
      'There are no background responses, so stored ones are always finished: the request is always refused.',
    answer: { type: 'object' },
    errors: ['invalid_parameter', 'not_found'],
  },
});
