import type { JsonObject } from '#contracts';
import { INCLUDABLE } from '#features';
import { inPath, inQuery, type OperationText, schemaOf } from '../../http/operation.js';

const ID = inPath('id', 'The id of the response.');

const INCLUDE = inQuery('include', 'What else is shown; may be given several times.', {
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
    previous_response_id: { type: ['string', 'null'], description: 'In the place of `input`, or in front of it.' },
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
export const STORED_RESPONSE_OPERATIONS = {
  compactResponse: {
    id: 'compactResponse',
    tag: 'Text',
    summary: 'Shorten a conversation',
    description:
      'The model summarizes the conversation. `output` is what to send in its place: the messages of the user, and a `compaction` item that every upstream understands here.',
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
    id: 'countResponseTokens',
    tag: 'Text',
    summary: 'Count the input tokens of a responses body',
    body: CONVERSATION,
    answer: enveloped({ object: { const: 'response.input_tokens' }, input_tokens: { type: 'integer' } }),
    errors: CONVERSATION_ERRORS,
  },
  readResponse: {
    id: 'readResponse',
    tag: 'Text',
    summary: 'Read a stored response',
    parameters: [
      ID,
      inQuery('stream', 'True: as the events of a stream, each text in one piece.', { type: 'boolean' }),
      inQuery('starting_after', 'The number of the last event of the stream that is left out.', {
        type: 'integer',
        minimum: 0,
      }),
      INCLUDE,
    ],
    answer: {
      description: 'The response; or, when a stream was asked for, its events.',
      content: {
        'application/json': { schema: schemaOf('TextAnswer') },
        'text/event-stream': { schema: { type: 'string' } },
      },
    },
    errors: ['invalid_parameter', 'not_found'],
  },
  deleteResponse: {
    id: 'deleteResponse',
    tag: 'Text',
    summary: 'Delete a stored response',
    description: 'Its items go with it. What went on from it stays, and cannot be gone on from any more.',
    parameters: [ID],
    answer: enveloped({ id: { type: 'string' }, object: { const: 'response' }, deleted: { const: true } }),
    errors: ['not_found'],
  },
  listInputItems: {
    id: 'listInputItems',
    tag: 'Text',
    summary: 'List what a stored response was made from',
    description:
      'Its own input, and in front of it the conversation that it went on from, as far as it is stored. Images and sealed reasoning are shown when `include` names them. A page holds up to 1 MiB of items, or one longer item; `has_more` says that there are more.',
    parameters: [
      ID,
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
    id: 'cancelResponse',
    tag: 'Text',
    summary: 'Cancel a response',
    description:
      'No response is made in the background, so that what is stored is finished: the answer is always a refusal.',
    parameters: [ID],
    answer: { type: 'object' },
    errors: ['invalid_parameter', 'not_found'],
  },
} satisfies Readonly<Record<string, OperationText>>;
