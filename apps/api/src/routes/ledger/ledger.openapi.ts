import { BALANCE_UNITS, type JsonObject, LEDGER_KINDS } from '#contracts';
import { queryOf } from '../../http/input-schema.js';
import { operationsOf } from '../../http/operation.js';
import { EntriesQuery } from '../../list-query.js';

const TEXT_OR_NULL: JsonObject = { type: ['string', 'null'] };
const BOOK: JsonObject = { enum: ['funding', 'available', 'held', 'revenue', 'owed'] };

const USAGE: JsonObject = {
  type: ['object', 'null'],
  description: 'The charge, line by line; null for entries that paid for no request, and while it is running.',
  properties: {
    id: { type: 'string' },
    model: { type: 'string' },
    status: { type: 'string' },
    amount: { type: 'string' },
    quantity: { type: 'integer' },
    input_tokens: { type: 'integer' },
    output_tokens: { type: 'integer' },
    lines: { type: 'array', items: { type: 'object' } },
  },
};

const ENTRY: JsonObject = {
  type: 'object',
  required: ['id', 'time', 'kind', 'debit', 'credit', 'amount', 'usage'],
  properties: {
    id: { type: 'string' },
    time: { type: 'string', format: 'date-time' },
    api_key_id: TEXT_OR_NULL,
    task_id: TEXT_OR_NULL,
    request_id: TEXT_OR_NULL,
    kind: { enum: Object.keys(LEDGER_KINDS) },
    debit: { ...BOOK, description: 'The book that the amount left.' },
    credit: { ...BOOK, description: 'The book that it went into.' },
    amount: { type: 'string', description: `Decimal with six places, ${BALANCE_UNITS.join(' or ')}.` },
    reference: TEXT_OR_NULL,
    usage: USAGE,
  },
};

const ENTRIES: JsonObject = {
  type: 'object',
  required: ['code', 'data', 'next_cursor'],
  properties: {
    code: { const: 200 },
    data: { type: 'array', items: ENTRY },
    next_cursor: TEXT_OR_NULL,
  },
};

/** The money of an account, movement by movement. */
export const LEDGER_OPERATIONS = operationsOf('Account', {
  listLedger: {
    summary: "Every movement of the account's money with what it paid for, newest first",
    parameters: queryOf(EntriesQuery),
    answer: {
      description: 'The entries.',
      content: { 'application/json': { schema: ENTRIES }, 'text/csv': { schema: { type: 'string' } } },
    },
    errors: ['invalid_parameter'],
  },
});
