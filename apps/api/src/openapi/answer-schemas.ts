import { BALANCE_UNITS, ERRORS, FIELD_GROUPS, type JsonObject, TASK_FAILURES } from '#contracts';

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

const MODEL_FIELD: JsonObject = {
  type: 'object',
  required: ['name', 'type', 'required', 'default', 'allowed', 'note', 'schema', 'unit', 'group', 'order'],
  properties: {
    name: { type: 'string', description: 'Fields of listed objects read `image_with_roles[].url`.' },
    type: { type: 'string' },
    required: { type: 'boolean' },
    default: { description: 'null: none.' },
    allowed: { type: 'string', description: 'What is allowed, in words.' },
    note: { type: 'string' },
    schema: { type: 'object', description: 'JSON Schema of the value; each choice in its documented spelling, once.' },
    unit: { enum: ['second', 'image', 'video', null], description: 'What the number counts.' },
    group: { enum: [...FIELD_GROUPS], description: 'Where a form shows it.' },
    order: { type: 'integer', minimum: 1, description: 'Its place in a form.' },
  },
};

const MODEL_VARIANT: JsonObject = {
  type: 'object',
  description: 'A variant of the model with its price. While it has no price, price is null and it cannot be ordered.',
  required: ['variant', 'unit', 'price'],
  properties: {
    variant: { type: 'string' },
    unit: { type: 'string' },
    price: {
      type: ['object', 'null'],
      required: ['amount', 'per_quantity', 'currency'],
      properties: { amount: AMOUNT, per_quantity: { type: 'integer' }, currency: { enum: [...BALANCE_UNITS] } },
    },
  },
};

const MODEL: JsonObject = {
  type: 'object',
  required: ['id', 'object', 'kind', 'available', 'paths', 'modes', 'fields', 'prices', 'variants'],
  properties: {
    id: { type: 'string' },
    object: { const: 'model' },
    created: { type: 'integer' },
    owned_by: { type: 'string' },
    kind: { enum: ['text', 'embedding', 'video', 'image'] },
    available: { type: 'boolean' },
    paths: { type: 'array', items: { type: 'string' } },
    summary: { type: 'string' },
    modes: { type: 'array', items: { type: 'string' } },
    fields: { type: 'array', items: MODEL_FIELD },
    rules: { type: 'array', items: { type: 'string' } },
    limits: {
      type: 'array',
      items: { type: 'string' },
      description: 'What no upstream of the model takes at present although its fields allow it, in words.',
    },
    result_lifetime_seconds: { type: ['integer', 'null'] },
    prices: { type: 'array', items: { type: 'object' } },
    variants: { type: 'array', items: MODEL_VARIANT },
  },
};

const QUOTE: JsonObject = {
  type: 'object',
  required: ['valid', 'model', 'path', 'mode', 'amount', 'currency'],
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
    held: AMOUNT,
    basis: {
      type: 'object',
      description: 'Of text: the counted input, the longest reply, and the band and tier of the prices.',
      properties: {
        input_tokens: { type: 'integer' },
        output_tokens: { type: 'integer' },
        from_input_tokens: { type: 'integer' },
        service_tier: { type: 'string' },
      },
    },
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
    description: 'The native response of the style, at the top level and again in `data`.',
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
