import { type ErrorCode, type JsonObject, UNPAID_CODES } from '#contracts';
import { queryOf, schemaOfInput } from '../http/input-schema.js';
import { envelopeSchema, inHeader, type OperationText, operationsOf } from '../http/operation.js';
import { MarginsQuery } from '../list-query.js';
import {
  AccountChange,
  FundingBody,
  NewAccount,
  PromptEntriesQuery,
  PromptLogBody,
  TagLimitsBody,
} from '../account.dto.js';
import { KeyChange, NewKeyBody, Rotation } from '../key.dto.js';
import { AssignedListBody, NewPriceListBody, NewRulesBody } from './price-lists.dto.js';
import { ChosenItemsBody, NewProposalBody, PriceNameBody, SimulationBody } from './price-proposals.dto.js';
import { ExportQuery, ImportQuery, NewPriceBody, PriceQuery } from './price.dto.js';
import {
  AccountsQuery,
  AccountUsageQuery,
  AccountUsageSumsQuery,
  AuditQuery,
  LedgerQuery,
  ReconcileQuery,
} from './records.dto.js';
import { DeliveriesQuery, ReasonBody, RefundBody, TaskSearchQuery, WorkersQuery } from './task.dto.js';

const ACTOR = inHeader('x-admin-actor', 'The actor recorded in the audit; `admin` by default.');
const OBJECT = envelopeSchema({ type: 'object' });
const ROWS = envelopeSchema({ type: 'array', items: { type: 'object' } });

const LIST: JsonObject = {
  description: 'A part of the list, newest first, or all of it as CSV.',
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['code', 'data', 'next_cursor'],
        properties: {
          code: { const: 200 },
          data: { type: 'array', items: { type: 'object' } },
          next_cursor: { type: ['string', 'null'] },
        },
      },
    },
    'text/csv': { schema: { type: 'string' } },
  },
};
const UPSTREAM: JsonObject = {
  type: 'object',
  description: 'The fields of an upstream in UPSTREAMS_FILE, and `enabled`.',
};

type Text = Omit<OperationText, 'id' | 'tag'>;

/** What an operation takes beside its path, as classes of checked fields. */
interface Takes {
  readonly query?: new () => object;
  readonly body?: (new () => object) | JsonObject;
  readonly errors?: readonly ErrorCode[];
}

const read = (
  summary: string,
  answer: JsonObject,
  { query, body, errors = ['invalid_parameter'] }: Takes = {},
): Text => ({
  summary,
  answer,
  parameters: query ? queryOf(query) : [],
  errors,
  ...(body && { body: typeof body === 'function' ? schemaOfInput(body) : body }),
});

/** A change, or a look, that is on record. */
function change(summary: string, takes?: Takes): Text {
  const text = read(summary, OBJECT, takes);
  return { ...text, parameters: [...(text.parameters ?? []), ACTOR] };
}

const GONE: readonly ErrorCode[] = ['invalid_parameter', 'not_found'];
const CLASHING: readonly ErrorCode[] = ['invalid_parameter', 'not_found', 'conflict'];
const OF_TASK: readonly ErrorCode[] = ['invalid_parameter', 'task_not_found', 'conflict'];

/** Accounts, their money and their keys. */
export const ACCOUNT_OPERATIONS = operationsOf('Admin', {
  adminListAccounts: read('List accounts', LIST, { query: AccountsQuery }),
  adminCreateAccount: change('Make an account', { body: NewAccount }),
  adminReadAccount: read('Read an account', OBJECT, { errors: GONE }),
  adminChangeAccount: change('Change an account', { body: AccountChange, errors: GONE }),
  adminTopUp: change('Top up, once for each reference', { body: FundingBody, errors: CLASHING }),
  adminAdjust: change('Correct a balance, once for each reference', { body: FundingBody, errors: CLASHING }),
  adminListTagLimits: read('What the work under tags of an account may cost', ROWS),
  adminSetTagLimits: change('Set all limits of tags: `limits`, a list of `tag`, `daily_limit`, `monthly_limit`', {
    body: TagLimitsBody,
    errors: GONE,
  }),
  adminListKeys: read('List the keys of an account', ROWS),
  adminCreateKey: change('Create a key, which is shown only in this response', { body: NewKeyBody, errors: GONE }),
  adminChangeKey: change('Change a key', { body: KeyChange, errors: GONE }),
  adminRotateKey: change('Create a new secret for a key', { body: Rotation, errors: CLASHING }),
  adminRevokeKey: change('End a key', { errors: GONE }),
});

export const PROMPT_LOG_OPERATIONS = operationsOf('Admin', {
  adminReadPromptLog: read('What is logged of the prompts and answers of an account', OBJECT),
  adminSetPromptLog: change('Log the prompts and answers of an account, or no more', {
    body: PromptLogBody,
    errors: [...CLASHING, 'permission_denied'],
  }),
  adminClearPromptLog: change('Delete everything that is logged, at once', { errors: GONE }),
  adminListPrompts: read('Logged requests, without their words', LIST, { query: PromptEntriesQuery }),
  adminReadPrompt: change('A logged request with its words. Leaves an audit record', { errors: GONE }),
  adminRemovePrompt: change('Delete a logged request', { errors: GONE }),
});

/** Prices by customer. */
export const PRICE_LIST_OPERATIONS = operationsOf('Admin', {
  adminListPriceLists: read('Price lists, with how many rules and accounts each has', ROWS),
  adminReadPriceList: read('One price list with its rules and the accounts that have it', OBJECT),
  adminAddPriceList: change('Add a price list', { body: NewPriceListBody, errors: ['invalid_parameter', 'conflict'] }),
  adminAddPriceRules: change('Add rules to a price list', { body: NewRulesBody, errors: CLASHING }),
  adminAssignPriceList: change('Give an account a price list, or the book', {
    body: AssignedListBody,
    errors: CLASHING,
  }),
});

const PROPOSED: readonly ErrorCode[] = ['invalid_parameter', 'not_found', 'conflict', 'upstream_error'];

/** Prices that public lists propose. */
export const PROPOSAL_OPERATIONS = operationsOf('Admin', {
  adminListPriceProposals: read('Proposals of the last 7 days, without their items', ROWS),
  adminReadPriceProposal: read('One proposal with its items', OBJECT, { errors: GONE }),
  adminAddPriceProposal: change('Read a list of prices and hold it against the price book', {
    body: NewProposalBody,
    errors: PROPOSED,
  }),
  adminApplyPriceProposal: change('Put the prices of chosen items into the price book, once', {
    body: ChosenItemsBody,
    errors: CLASHING,
  }),
  adminUndoPriceProposal: change('Take back what was applied, unless prices changed since', { errors: CLASHING }),
  adminSimulatePrices: change('What past usage would have brought at other prices', {
    body: SimulationBody,
    errors: CLASHING,
  }),
  adminListPriceNames: read('Which entries of lists are of which model, as operators said', ROWS),
  adminSetPriceName: change('Say which model an entry of a list is of, or that it is none', { body: PriceNameBody }),
});

/** The models on sale, and their vendors. */
export const CATALOGUE_OPERATIONS = operationsOf('Admin', {
  adminListPrices: read('Current prices, or all', ROWS, { query: PriceQuery }),
  adminAddPrice: change('Add a price', { body: NewPriceBody, errors: ['invalid_parameter', 'conflict'] }),
  adminExportPrices: read('Prices in force and to come, in the form of PRICES_FILE', ROWS, { query: ExportQuery }),
  adminImportPrices: change('Put a list of dated prices into the price book, all or nothing', {
    query: ImportQuery,
    errors: ['invalid_parameter', 'conflict'],
  }),
  adminListUpstreams: read('List upstreams of text and media', ROWS),
  adminAddUpstream: change('Add an upstream; kind is text or media', {
    body: UPSTREAM,
    errors: ['invalid_parameter', 'conflict'],
  }),
  adminReadUpstream: read('Read an upstream', OBJECT, { errors: GONE }),
  adminChangeUpstream: change('Change an upstream by a JSON merge patch', { body: UPSTREAM, errors: CLASHING }),
  adminVerifyUpstream: read('Test the key of an upstream, and show what holds for its models', OBJECT, {
    errors: CLASHING,
  }),
  adminRemoveUpstream: change('Remove an upstream', { errors: CLASHING }),
});

/** What was written down. */
export const RECORD_OPERATIONS = operationsOf('Admin', {
  adminListLedger: read('Entries of the ledger', LIST, { query: LedgerQuery }),
  adminListAudit: read('List changes made by operators', LIST, { query: AuditQuery }),
  adminReadUsage: read('Sums of requests, tokens and money', ROWS, { query: AccountUsageSumsQuery }),
  adminReadMargins: read('What upstreams earned and cost', ROWS, { query: MarginsQuery }),
  adminListUsageRecords: read('Every request and task with its price', LIST, { query: AccountUsageQuery }),
  adminListReconciliations: read('The latest reconciliations', ROWS),
  adminReconcile: change('Reconcile now', { query: ReconcileQuery, errors: ['invalid_parameter', 'conflict'] }),
});

/** Tasks, deliveries and workers. */
export const TASK_OPERATIONS = operationsOf('Admin', {
  adminSearchTasks: read('Search all tasks, newest first', LIST, { query: TaskSearchQuery }),
  adminReadTask: read('A task with its timeline, ledger entries, usage and webhook deliveries', OBJECT, {
    errors: ['task_not_found'],
  }),
  adminCancelTask: change('Stop a task, as its owner can', { body: ReasonBody, errors: OF_TASK }),
  adminRefundTask: change('Refund, once for each reference', { body: RefundBody, errors: OF_TASK }),
  adminRedriveTask: change('Redrive a failed task as a new one with its own hold', {
    body: ReasonBody,
    errors: [...OF_TASK, ...UNPAID_CODES],
  }),
  adminListTasksNeedingAttention: read('What needs an operator: parked tasks, unconfirmed starts, orphans', OBJECT),
  adminListDeliveries: read('Webhook deliveries of all accounts, newest first', LIST, { query: DeliveriesQuery }),
  adminRedeliver: change('Send a delivery again at once, under the same id', { errors: ['not_found'] }),
  adminListWorkers: read('The worker processes and their current tasks', ROWS, { query: WorkersQuery }),
});
