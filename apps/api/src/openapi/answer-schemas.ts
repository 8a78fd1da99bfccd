import { BALANCE_UNITS, ERRORS, type JsonObject, TASK_FAILURES } from '#contracts';

const TIME = { type: ['integer', 'null'], description: 'Unix seconds.' };
const AMOUNT = { type: 'string', pattern: '^\\d+\\.\\d{6}$', description: 'Decimal with six places.' };

const FILE: JsonObject = {
  type: 'object',
  properties: {
    url: { type: ['string', 'null'], description: 'Null once the file expired.' },
    expires_at: TIME,
    expired: { const: true },
    content_type: { type: 'string' },
    width: { type: ['integer', 'null'] },
    height: { type: ['integer', 'null'] },
    duration: { type: ['number', 'null'], description: 'Seconds.' },
    bytes: { type: 'integer' },
    sha256: { type: 'string' },
  },
};

const TASK: JsonObject = {
  type: 'object',
  required: ['task_id', 'id', 'object', 'type', 'model', 'status', 'progress', 'created', 'result', 'error', 'usage'],
  properties: {
    task_id: { type: 'string', pattern: '^task_' },
    id: { type: 'string' },
    object: { const: 'task' },
    type: { enum: ['video', 'image'] },
    model: { type: 'string' },
    status: { enum: ['submitted', 'in_progress', 'completed', 'failed', 'cancelled'] },
    progress: { type: 'integer', minimum: 0, maximum: 100 },
    created: TIME,
    started: TIME,
    completed: TIME,
    result: {
      type: ['object', 'null'],
      properties: {
        videos: { type: 'array', items: FILE },
        images: { type: 'array', items: FILE },
        last_frame_url: { type: ['string', 'null'] },
      },
    },
    error: {
      type: ['object', 'null'],
      properties: { code: { enum: Object.keys(TASK_FAILURES) }, message: { type: 'string' } },
    },
    usage: {
      type: 'object',
      properties: {
        amount: AMOUNT,
        unit: { enum: [...BALANCE_UNITS] },
        quantity: { type: 'integer' },
        per: { type: 'string' },
        final: { type: 'boolean' },
      },
    },
    notice: { type: 'string' },
  },
};

const MODEL: JsonObject = {
  type: 'object',
  required: ['id', 'object', 'kind', 'paths', 'modes', 'fields', 'prices'],
  properties: {
    id: { type: 'string' },
    object: { const: 'model' },
    created: { type: 'integer' },
    owned_by: { type: 'string' },
    kind: { enum: ['text', 'video', 'image'] },
    paths: { type: 'array', items: { type: 'string' } },
    summary: { type: 'string' },
    modes: { type: 'array', items: { type: 'string' } },
    fields: { type: 'array', items: { type: 'object' } },
    rules: { type: 'array', items: { type: 'string' } },
    result_lifetime_seconds: { type: ['integer', 'null'] },
    prices: { type: 'array', items: { type: 'object' } },
  },
};

const QUOTE: JsonObject = {
  type: 'object',
  required: ['valid', 'model', 'path', 'mode', 'amount', 'currency', 'unit_price', 'quantity', 'per', 'request'],
  properties: {
    object: { const: 'quote' },
    valid: { const: true },
    model: { type: 'string' },
    path: { type: 'string' },
    mode: { type: 'string' },
    amount: AMOUNT,
    currency: { enum: [...BALANCE_UNITS] },
    unit_price: AMOUNT,
    quantity: { type: 'integer' },
    per: { enum: ['second', 'image'] },
    variant: { type: 'string' },
    settle: { enum: ['per-output', 'as-held'] },
    request: { type: 'object' },
    notices: { type: 'array', items: { type: 'string' } },
    valid_until: TIME,
  },
};

/** The shapes of answers, by name. */
export const ANSWER_SCHEMAS: JsonObject = {
  SubmittedTask: {
    type: 'object',
    required: ['code', 'data'],
    properties: {
      code: { const: 200 },
      data: {
        type: 'array',
        minItems: 1,
        maxItems: 1,
        items: {
          type: 'object',
          required: ['status', 'task_id'],
          properties: {
            status: { const: 'submitted' },
            task_id: { type: 'string', pattern: '^task_' },
            notice: { type: 'string' },
          },
        },
      },
    },
  },
  Task: TASK,
  Model: MODEL,
  Quote: QUOTE,
  UserBalance: {
    type: 'object',
    required: ['success'],
    properties: {
      success: { type: 'boolean' },
      message: { type: 'string' },
      remain_balance: { type: 'number', description: '-1 when the quota is unlimited.' },
      used_balance: { type: 'number' },
      unlimited_quota: { type: 'boolean' },
    },
  },
  TextAnswer: {
    type: 'object',
    description: 'The native answer of the style, at the top and once more in `data`.',
    required: ['code', 'data'],
    properties: { code: { const: 200 }, data: { type: 'object' } },
  },
  Error: {
    type: 'object',
    required: ['code', 'message', 'error'],
    properties: {
      code: { type: 'integer', description: 'The HTTP status.' },
      message: { type: 'string' },
      error: {
        type: 'object',
        properties: {
          message: { type: 'string' },
          type: { type: 'string' },
          code: { enum: Object.keys(ERRORS) },
          param: { type: ['string', 'null'] },
          details: { type: 'array', items: { type: 'object' } },
        },
      },
    },
  },
};
