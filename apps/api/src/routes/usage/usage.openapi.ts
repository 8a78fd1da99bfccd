import type { JsonObject } from '#contracts';
import { envelope, inQuery, type OperationText } from '../../http/operation.js';

const DAY: JsonObject = { type: 'string', format: 'date' };

const DAYS = [
  inQuery('from', 'First day (UTC); 30 days by default.', DAY),
  inQuery('to', 'Last day (UTC), at most 366 days after the first; today by default.', DAY),
  inQuery('format', 'CSV holds the whole list.', { type: 'string', enum: ['json', 'csv'], default: 'json' }),
];

const ROWS = envelope({ type: 'array', items: { type: 'object' } });

/** JSON in the envelope, or the same as a table. */
const jsonOrCsv = (description: string, schema: JsonObject = ROWS): JsonObject => ({
  description,
  content: {
    'application/json': { schema },
    'text/csv': { schema: { type: 'string' } },
  },
});

const OWED = { type: 'string', description: 'What the account owes now; the next top-up pays it first.' };
const SUMS: JsonObject = { allOf: [ROWS, { type: 'object', required: ['owed'], properties: { owed: OWED } }] };

/** What an account used, for the holders of its keys. */
export const USAGE_OPERATIONS = {
  readUsage: {
    id: 'readUsage',
    tag: 'Account',
    summary: 'Sums of requests, tokens and money by day, model and key, at most 10000 of them',
    parameters: [
      ...DAYS,
      inQuery('group_by', 'Any of day, model and key, separated by commas.', {
        type: 'string',
        default: 'day,model,key',
      }),
    ],
    answer: jsonOrCsv('The sums.', SUMS),
    errors: ['invalid_parameter'],
  },
  listUsageRecords: {
    id: 'listUsageRecords',
    tag: 'Account',
    summary: 'Every request and task with the lines of its price, newest first',
    parameters: [
      ...DAYS,
      inQuery('limit', 'Records on a page.', { type: 'integer', minimum: 1, maximum: 1_000, default: 50 }),
      inQuery('cursor', 'The `next_cursor` of the page before.', { type: 'string' }),
    ],
    answer: jsonOrCsv('The records.'),
    errors: ['invalid_parameter'],
  },
} satisfies Readonly<Record<string, OperationText>>;
