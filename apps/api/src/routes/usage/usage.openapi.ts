import { BALANCE_UNITS, type JsonObject } from '#contracts';
import { envelopeSchema, inQuery, operationsOf } from '../../http/operation.js';

const DAY: JsonObject = { type: 'string', format: 'date' };

const DAYS = [
  inQuery('from', 'First day in the time zone of the account (UTC unless it has one); 30 days by default.', DAY),
  inQuery(
    'to',
    'Last day, at most 366 days after the first (31 by day in a time zone of its own); today by default.',
    DAY,
  ),
  inQuery('format', 'CSV holds the whole list.', { type: 'string', enum: ['json', 'csv'], default: 'json' }),
];

const TAG = inQuery('tag', 'Of work with this tag.', { type: 'string', maxLength: 64 });

/** Which records there are. */
export const RECORD_FILTERS = [
  inQuery('session', 'Of this session of an agent.', { type: 'string', maxLength: 256 }),
  inQuery('end_user', 'For this end user.', { type: 'string', maxLength: 128 }),
  inQuery('request_id', 'Of this request, on whatever day unless days are given.', { type: 'string', maxLength: 200 }),
  TAG,
];

const ROWS = envelopeSchema({ type: 'array', items: { type: 'object' } });

/** JSON in the envelope, or the same as a table. */
const jsonOrCsv = (description: string, schema: JsonObject = ROWS): JsonObject => ({
  description,
  content: {
    'application/json': { schema },
    'text/csv': { schema: { type: 'string' } },
  },
});

const OWED = { type: 'string', description: 'What the account owes now; the next top-up pays it first.' };
const CURRENCY = { enum: [...BALANCE_UNITS], description: 'That of the amounts, and of the balance.' };
const ZONE = { type: 'string', description: 'The time zone of the days.' };
const SUMS: JsonObject = {
  allOf: [
    ROWS,
    {
      type: 'object',
      required: ['owed', 'currency', 'time_zone'],
      properties: { owed: OWED, currency: CURRENCY, time_zone: ZONE },
    },
  ],
};

/** What an account used, for the holders of its keys. */
export const USAGE_OPERATIONS = operationsOf('Account', {
  readUsage: {
    summary: 'Sums of requests, tokens and money by day, model and key, at most 10000 of them',
    parameters: [
      ...DAYS,
      TAG,
      inQuery('group_by', 'Any of day, model and key, or of day and tag, separated by commas.', {
        type: 'string',
        default: 'day,model,key',
      }),
    ],
    answer: jsonOrCsv('The sums.', SUMS),
    errors: ['invalid_parameter'],
  },
  listUsageRecords: {
    summary: 'Every request and task with the lines of its price, newest first',
    parameters: [
      ...DAYS,
      ...RECORD_FILTERS,
      inQuery('limit', 'Records on a page.', { type: 'integer', minimum: 1, maximum: 1_000, default: 50 }),
      inQuery('cursor', 'The `next_cursor` of the page before.', { type: 'string' }),
    ],
    answer: jsonOrCsv('The records.'),
    errors: ['invalid_parameter'],
  },
});
