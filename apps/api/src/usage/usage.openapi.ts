import type { JsonObject } from '#contracts';
import { envelope, inQuery, type OperationText } from '../openapi/operation.js';

const DAY: JsonObject = { type: 'string', format: 'date' };

const DAYS = [
  inQuery('from', 'First day (UTC); 30 days are shown unless said.', DAY),
  inQuery('to', 'Last day (UTC), at most 366 days after the first; today unless said.', DAY),
  inQuery('format', 'CSV holds the whole list.', { type: 'string', enum: ['json', 'csv'], default: 'json' }),
];

/** JSON in the envelope, or the same as a table. */
const jsonOrCsv = (description: string): JsonObject => ({
  description,
  content: {
    'application/json': { schema: envelope({ type: 'array', items: { type: 'object' } }) },
    'text/csv': { schema: { type: 'string' } },
  },
});

/** What an account used, for the holders of its keys. */
export const USAGE_OPERATIONS = {
  readUsage: {
    id: 'readUsage',
    tag: 'Account',
    summary: 'Sums of requests, tokens and money by day, model and key, at most 10000 of them',
    parameters: [
      ...DAYS,
      inQuery('group_by', 'Some of day, model and key, separated by commas.', {
        type: 'string',
        default: 'day,model,key',
      }),
    ],
    answer: jsonOrCsv('The sums.'),
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
