import type { JsonObject } from '#contracts';

const TEXT: JsonObject = { type: 'string' };
const AMOUNT: JsonObject = { type: 'string', description: 'Decimal text with at most six places, such as "10.50".' };
const REFERENCE: JsonObject = {
  type: 'string',
  pattern: '^[\\w.:/-]{1,100}$',
  description: 'Names the payment or the case; the same reference again changes nothing.',
};
const LIMIT: JsonObject = { type: ['integer', 'null'], description: 'Null: no limit.' };
const AMOUNT_LIMIT: JsonObject = { type: ['string', 'null'], description: 'Decimal text; null: no limit.' };
const TEXTS: JsonObject = { type: 'array', items: TEXT };
const TIME: JsonObject = { type: 'string', format: 'date-time' };

const body = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: 'object',
  additionalProperties: false,
  ...(required.length > 0 && { required: [...required] }),
  properties,
});

const ACCOUNT: JsonObject = {
  name: TEXT,
  unlimited: { type: 'boolean' },
  priority: { type: 'integer' },
  max_running_tasks: LIMIT,
  requests_per_minute: LIMIT,
  tokens_per_minute: LIMIT,
  daily_limit: AMOUNT_LIMIT,
  monthly_limit: AMOUNT_LIMIT,
  low_balance: {
    type: ['string', 'null'],
    description: 'Decimal text: endpoints get `balance.low` when less is left. Null: never.',
  },
  disabled: { type: 'boolean' },
};
const KEY: JsonObject = {
  name: TEXT,
  quota: AMOUNT_LIMIT,
  daily_limit: AMOUNT_LIMIT,
  monthly_limit: AMOUNT_LIMIT,
  allowed_models: TEXTS,
  allowed_addresses: TEXTS,
  requests_per_minute: LIMIT,
  tokens_per_minute: LIMIT,
  max_running_tasks: LIMIT,
  expires_at: { type: ['string', 'null'], format: 'date-time' },
};
const UPSTREAM: JsonObject = {
  type: 'object',
  description: 'The fields of an upstream in UPSTREAMS_FILE, and `enabled`.',
};
const FUNDING = body({ amount: AMOUNT, reference: REFERENCE, note: TEXT }, ['amount', 'reference']);
const REASON = body({ reason: TEXT });

/** The bodies of admin operations by operation id; one that is missing takes none. */
export const ADMIN_BODIES: Readonly<Record<string, JsonObject>> = {
  adminCreateAccount: body(ACCOUNT, ['name']),
  adminChangeAccount: body(ACCOUNT),
  adminTopUp: FUNDING,
  adminAdjust: FUNDING,
  adminCreateKey: body(KEY, ['name']),
  adminChangeKey: body(KEY),
  adminRotateKey: body({ overlap_seconds: { type: 'integer', minimum: 0, default: 86_400 } }),
  adminAddPrice: body(
    {
      model: TEXT,
      unit: TEXT,
      variant: { ...TEXT, default: 'default' },
      amount: AMOUNT,
      per_quantity: { type: 'integer', minimum: 1, default: 1 },
      effective_from: TIME,
    },
    ['model', 'unit', 'amount'],
  ),
  adminAddUpstream: UPSTREAM,
  adminChangeUpstream: UPSTREAM,
  adminCancelTask: REASON,
  adminRefundTask: body({ amount: AMOUNT, reference: REFERENCE, reason: TEXT }, ['reference', 'reason']),
  adminRedriveTask: REASON,
};
