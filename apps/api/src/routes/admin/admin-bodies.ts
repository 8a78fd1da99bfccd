import type { JsonObject } from '#contracts';
import { LIST_SOURCES, TAG_FORM, TAG_LIMITS_MAX } from '#features';

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
  time_zone: {
    type: ['string', 'null'],
    description: 'Time zone of its days and months, an IANA name such as Asia/Shanghai. Null: UTC.',
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

const PRICE_RULES: JsonObject = {
  type: 'array',
  items: {
    type: 'object',
    required: ['model'],
    properties: {
      model: { type: 'string', description: 'A model, or * for every one.' },
      unit: TEXT,
      variant: TEXT,
      from_input_tokens: { type: 'integer', minimum: 0 },
      factor: { type: 'string', description: 'What the price of the book is multiplied by, such as 0.9.' },
      amount: AMOUNT,
      per_quantity: { type: 'integer', minimum: 1, default: 1 },
      effective_from: TIME,
    },
  },
};

/** The bodies of admin operations by operation id; one that is missing takes none. */
export const ADMIN_BODIES: Readonly<Record<string, JsonObject>> = {
  adminCreateAccount: body(ACCOUNT, ['name']),
  adminChangeAccount: body(ACCOUNT),
  adminTopUp: FUNDING,
  adminAdjust: FUNDING,
  adminSetPromptLog: body(
    {
      enabled: { type: 'boolean' },
      retention_days: { type: 'integer', minimum: 1, maximum: 90, default: 7 },
      redactions: { ...TEXTS, maxItems: 16, default: [] },
    },
    ['enabled'],
  ),
  adminSetTagLimits: body(
    {
      limits: {
        type: 'array',
        description: 'All limits of tags; a tag that is left out has none.',
        maxItems: TAG_LIMITS_MAX,
        items: body(
          { tag: { type: 'string', pattern: TAG_FORM.source }, daily_limit: AMOUNT_LIMIT, monthly_limit: AMOUNT_LIMIT },
          ['tag'],
        ),
      },
    },
    ['limits'],
  ),
  adminCreateKey: body(KEY, ['name']),
  adminChangeKey: body(KEY),
  adminRotateKey: body({ overlap_seconds: { type: 'integer', minimum: 0, default: 86_400 } }),
  adminAddPrice: body(
    {
      model: TEXT,
      unit: TEXT,
      variant: { ...TEXT, default: 'default' },
      from_input_tokens: { type: 'integer', minimum: 0, default: 0 },
      amount: AMOUNT,
      per_quantity: { type: 'integer', minimum: 1, default: 1 },
      effective_from: TIME,
    },
    ['model', 'unit', 'amount'],
  ),
  adminAddPriceList: body({ id: TEXT, name: TEXT, rules: PRICE_RULES }, ['id', 'name']),
  adminAddPriceRules: body({ rules: PRICE_RULES }, ['rules']),
  adminAssignPriceList: body({ list: { type: ['string', 'null'] }, effective_from: TIME }, ['list']),
  adminAddPriceProposal: body(
    {
      source: { type: 'string', enum: [...LIST_SOURCES] },
      url: { type: 'string', description: 'Where the list is fetched, by https.' },
      file: { type: 'string', description: 'The text of the list.' },
      upstream: { type: 'string', description: 'The text upstream whose own list it is.' },
      factor: { type: 'string', default: '1', description: 'What amounts are multiplied by, such as 1.2.' },
      rounding: { description: '`cent`, or how many digits; absent: exact.' },
      effective_from: TIME,
    },
    ['source'],
  ),
  adminSimulatePrices: body({
    from: { type: 'string', format: 'date' },
    to: { type: 'string', format: 'date' },
    proposal: { type: 'string', description: 'Its ticked items, unless `items` says which.' },
    items: TEXTS,
    prices: { type: 'array', items: { type: 'object' }, description: 'In the form of PRICES_FILE.' },
    list: { type: 'string', description: 'A price list, for all accounts.' },
  }),
  adminApplyPriceProposal: body({ items: TEXTS }, ['items']),
  adminSetPriceName: body(
    { source: { type: 'string', enum: [...LIST_SOURCES] }, id: TEXT, model: { type: ['string', 'null'] } },
    ['source', 'id', 'model'],
  ),
  adminAddUpstream: UPSTREAM,
  adminChangeUpstream: UPSTREAM,
  adminCancelTask: REASON,
  adminRefundTask: body({ amount: AMOUNT, reference: REFERENCE, reason: TEXT }, ['reference', 'reason']),
  adminRedriveTask: REASON,
};
