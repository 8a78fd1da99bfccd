import { type ErrorCode, type JsonObject, SPECIFIED_TEXT_MODELS, type TextStyle, UNPAID_CODES } from '#contracts';
import { inHeader, inQuery, operationsOf, schemaOf } from '../../http/operation.js';
import { STORED_RESPONSE_OPERATIONS } from './stored-responses.openapi.js';

const TEXT_ERRORS: readonly ErrorCode[] = [
  'invalid_parameter',
  'missing_parameter',
  ...UNPAID_CODES,
  'model_not_allowed',
  'model_not_found',
  'request_too_large',
  'upstream_rate_limited',
  'upstream_error',
  'overloaded',
  'upstream_timeout',
];

const modelsOf = (style: TextStyle): string[] =>
  SPECIFIED_TEXT_MODELS.filter((model) => model.style === style).map(({ id }) => id);

const nameOf = (style: TextStyle): JsonObject => ({
  type: 'string',
  description: `Any text model; those of this style are ${modelsOf(style).join(', ')}. GET /v1/models lists all.`,
  examples: modelsOf(style).slice(0, 1),
});

const ANY_MODEL: JsonObject = {
  type: 'string',
  description: 'Any text model. GET /v1/models lists all.',
  examples: ['vendor-5'],
};

/** The whole answer, or events while it is written. */
const wholeOrStream = (name: string): JsonObject => ({
  description: 'The complete response, or its events if a stream was requested.',
  content: {
    'application/json': { schema: schemaOf(name) },
    'text/event-stream': { schema: { type: 'string' } },
  },
});

const STRICT_VALUES = 'Unknown fields are passed on or ignored, as is usual for the style; wrong values are refused.';

export const TEXT_OPERATIONS = operationsOf('Text', {
  createResponse: {
    summary: 'Generate text, responses style',
    description: STRICT_VALUES,
    body: {
      type: 'object',
      required: ['model', 'input'],
      properties: {
        model: nameOf('responses'),
        input: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }] },
        instructions: { type: ['string', 'null'] },
        tools: { type: ['array', 'null'], items: { type: 'object' } },
        temperature: { type: ['number', 'null'], minimum: 0, maximum: 2 },
        top_p: { type: ['number', 'null'], minimum: 0, maximum: 1 },
        max_output_tokens: { type: ['integer', 'null'], minimum: 1 },
        previous_response_id: { type: ['string', 'null'] },
        store: { type: ['boolean', 'null'], default: true },
        stream: { type: ['boolean', 'null'], default: false },
      },
      examples: [{ model: 'vendor-5', input: 'Say hello.' }],
    },
    answer: wholeOrStream('TextAnswer'),
    errors: [...TEXT_ERRORS, 'previous_response_not_found'],
  },
  ...STORED_RESPONSE_OPERATIONS,
  createChatCompletion: {
    summary: 'Generate text, chat completions style',
    description: `${STRICT_VALUES} Fields that only chat vendors support (n, logprobs, logit_bias) pass to those; for other upstreams they are refused with an error that names them.`,
    body: {
      type: 'object',
      required: ['model', 'messages'],
      properties: {
        model: ANY_MODEL,
        messages: { type: 'array', minItems: 1, items: { type: 'object', required: ['role'] } },
        max_completion_tokens: { type: ['integer', 'null'], minimum: 1 },
        max_tokens: { type: ['integer', 'null'], minimum: 1, description: 'The former name of max_completion_tokens.' },
        temperature: { type: ['number', 'null'], minimum: 0, maximum: 2 },
        top_p: { type: ['number', 'null'], minimum: 0, maximum: 1 },
        n: { type: ['integer', 'null'], minimum: 1, maximum: 128, default: 1 },
        stop: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }, { type: 'null' }] },
        seed: { type: ['integer', 'null'] },
        tools: { type: ['array', 'null'], items: { type: 'object' } },
        tool_choice: { oneOf: [{ enum: ['auto', 'none', 'required'] }, { type: 'object' }, { type: 'null' }] },
        parallel_tool_calls: { type: ['boolean', 'null'], default: true },
        response_format: { type: ['object', 'null'] },
        reasoning_effort: { enum: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'default', null] },
        stream: { type: ['boolean', 'null'], default: false },
        stream_options: {
          type: ['object', 'null'],
          properties: { include_usage: { type: ['boolean', 'null'], default: false } },
        },
      },
      examples: [{ model: 'vendor-5', messages: [{ role: 'user', content: 'Say hello.' }] }],
    },
    answer: wholeOrStream('TextAnswer'),
    errors: TEXT_ERRORS,
  },
  createEmbeddings: {
    summary: 'Turn texts into vectors',
    description:
      'Passes through to an upstream that offers the model (`embedding_models`), and is charged by its input. Unknown fields are left out.',
    body: {
      type: 'object',
      required: ['model', 'input'],
      properties: {
        model: { type: 'string', description: 'An embedding model; GET /v1/models lists those there are.' },
        input: {
          oneOf: [
            { type: 'string' },
            { type: 'array', items: { type: 'string' } },
            { type: 'array', items: { type: 'integer' } },
            { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
          ],
        },
        encoding_format: { enum: ['float', 'base64', null], default: 'float' },
        dimensions: { type: ['integer', 'null'], minimum: 1 },
        user: { type: ['string', 'null'] },
      },
      examples: [{ model: 'text-embedding', input: 'Say hello.' }],
    },
    answer: {
      type: 'object',
      required: ['code', 'object', 'data', 'model', 'usage'],
      properties: {
        code: { const: 200 },
        object: { const: 'list' },
        data: { type: 'array', items: { type: 'object' } },
        model: { type: 'string' },
        usage: { type: 'object' },
      },
    },
    errors: TEXT_ERRORS,
  },
  createMessage: {
    summary: 'Generate text, messages style',
    description: STRICT_VALUES,
    parameters: [
      {
        ...inHeader('vendor-version', 'The version of the style, or `anthropic-version`; one is required.', {
          type: 'string',
          pattern: '^\\d{4}-\\d{2}-\\d{2}$',
        }),
      },
    ],
    body: {
      type: 'object',
      required: ['model', 'messages'],
      properties: {
        model: nameOf('messages'),
        messages: { type: 'array', minItems: 1, items: { type: 'object', required: ['role', 'content'] } },
        max_tokens: { type: 'integer', minimum: 1, default: 4096 },
        system: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }] },
        temperature: { type: 'number', minimum: 0, maximum: 1 },
        top_p: { type: 'number', minimum: 0, maximum: 1 },
        top_k: { type: 'integer', minimum: 0 },
        stop_sequences: { type: 'array', maxItems: 4, items: { type: 'string' } },
        stream: { type: 'boolean', default: false },
        tools: { type: 'array', items: { type: 'object' } },
        tool_choice: { type: 'object' },
      },
      examples: [
        { model: 'vendor-haiku-4-5-20251001', max_tokens: 64, messages: [{ role: 'user', content: 'Say hello.' }] },
      ],
    },
    answer: wholeOrStream('TextAnswer'),
    errors: TEXT_ERRORS,
  },
  countMessageTokens: {
    summary: 'Count the input tokens of a messages body',
    body: { type: 'object', required: ['model', 'messages'] },
    answer: { type: 'object', properties: { input_tokens: { type: 'integer' } } },
    errors: ['invalid_parameter', 'missing_parameter', 'model_not_found'],
  },
  generateContent: {
    summary: 'Generate text, content-generation style',
    path: {
      target: '`{model}:{method}`; method is `generateContent`, `streamGenerateContent` or `countTokens`.',
    },
    parameters: [
      inQuery('alt', 'How a stream is written: `sse` for events; otherwise one JSON array.', {
        type: 'string',
        enum: ['sse'],
      }),
    ],
    body: {
      type: 'object',
      required: ['contents'],
      properties: {
        contents: { type: 'array', minItems: 1, items: { type: 'object' } },
        generationConfig: { type: 'object' },
        safetySettings: { type: 'array', items: { type: 'object' } },
        tools: { type: 'array', items: { type: 'object' } },
      },
      examples: [{ contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }] }],
    },
    answer: wholeOrStream('TextAnswer'),
    errors: TEXT_ERRORS,
  },
});
