import { type ErrorCode, type JsonObject, UNPAID_CODES } from '#contracts';
import { queryOf, schemaOfInput } from '../http/input-schema.js';
import { envelopeSchema, inHeader, inPath, type OperationText, operationsOf } from '../http/operation.js';
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

const read = (
  summary: string,
  answer: JsonObject,
  parameters: readonly JsonObject[] = [],
  errors: readonly ErrorCode[] = ['invalid_parameter'],
): Text => ({ summary, answer, parameters, errors });

const change = (
  summary: string,
  parameters: readonly JsonObject[] = [],
  errors: readonly ErrorCode[] = ['invalid_parameter'],
): Text => read(summary, OBJECT, [...parameters, ACTOR], errors);

const taking = (body: new () => object, text: Text): Text => ({ ...text, body: schemaOfInput(body) });

const ACCOUNT_ID = inPath('account_id', 'The id of the account.');
const KEY_ID = inPath('key_id', 'The id of the key, not the key itself.');
const UPSTREAM_ID = inPath('upstream_id', 'The id of the upstream.');
const TASK_ID = inPath('task_id', 'The id of the task.');
const GONE: readonly ErrorCode[] = ['invalid_parameter', 'not_found'];
const CLASHING: readonly ErrorCode[] = ['invalid_parameter', 'not_found', 'conflict'];
const OF_TASK: readonly ErrorCode[] = ['invalid_parameter', 'task_not_found', 'conflict'];

/** Accounts, their money and their keys. */
export const ACCOUNT_OPERATIONS = operationsOf('Admin', {
  adminListAccounts: read('List accounts', LIST, queryOf(AccountsQuery)),
  adminCreateAccount: taking(NewAccount, change('Make an account')),
  adminReadAccount: read('Read an account', OBJECT, [ACCOUNT_ID], GONE),
  adminChangeAccount: taking(AccountChange, change('Change an account', [ACCOUNT_ID], GONE)),
  adminTopUp: taking(FundingBody, change('Top up, once for each reference', [ACCOUNT_ID], CLASHING)),
  adminAdjust: taking(FundingBody, change('Correct a balance, once for each reference', [ACCOUNT_ID], CLASHING)),
  adminListTagLimits: read('What the work under tags of an account may cost', ROWS, [ACCOUNT_ID]),
  adminSetTagLimits: taking(
    TagLimitsBody,
    change('Set all limits of tags: `limits`, a list of `tag`, `daily_limit`, `monthly_limit`', [ACCOUNT_ID], GONE),
  ),
  adminListKeys: read('List the keys of an account', ROWS, [ACCOUNT_ID]),
  adminCreateKey: taking(NewKeyBody, change('Create a key, which is shown only in this response', [ACCOUNT_ID], GONE)),
  adminChangeKey: taking(KeyChange, change('Change a key', [KEY_ID], GONE)),
  adminRotateKey: taking(Rotation, change('Create a new secret for a key', [KEY_ID], CLASHING)),
  adminRevokeKey: change('End a key', [KEY_ID], GONE),
});

const ENTRY_ID = inPath('entry_id', 'The id of the logged request.');

export const PROMPT_LOG_OPERATIONS = operationsOf('Admin', {
  adminReadPromptLog: read('What is logged of the prompts and answers of an account', OBJECT, [ACCOUNT_ID]),
  adminSetPromptLog: taking(
    PromptLogBody,
    change('Log the prompts and answers of an account, or no more', [ACCOUNT_ID], [...CLASHING, 'permission_denied']),
  ),
  adminClearPromptLog: change('Delete everything that is logged, at once', [ACCOUNT_ID], GONE),
  adminListPrompts: read('Logged requests, without their words', LIST, [ACCOUNT_ID, ...queryOf(PromptEntriesQuery)]),
  adminReadPrompt: read(
    'A logged request with its words. Leaves an audit record',
    OBJECT,
    [ACCOUNT_ID, ENTRY_ID, ACTOR],
    GONE,
  ),
  adminRemovePrompt: change('Delete a logged request', [ACCOUNT_ID, ENTRY_ID], GONE),
});

const LIST_ID = inPath('list_id', 'The id of the price list.');

/** Prices by customer. */
export const PRICE_LIST_OPERATIONS = operationsOf('Admin', {
  adminListPriceLists: read('Price lists, with how many rules and accounts each has', ROWS),
  adminReadPriceList: read('One price list with its rules and the accounts that have it', OBJECT, [LIST_ID]),
  adminAddPriceList: taking(NewPriceListBody, change('Add a price list', [], ['invalid_parameter', 'conflict'])),
  adminAddPriceRules: taking(NewRulesBody, change('Add rules to a price list', [LIST_ID], CLASHING)),
  adminAssignPriceList: taking(
    AssignedListBody,
    change('Give an account a price list, or the book', [ACCOUNT_ID], CLASHING),
  ),
});

const PROPOSAL_ID = inPath('proposal_id', 'The id of the proposal.');
const PROPOSED: readonly ErrorCode[] = ['invalid_parameter', 'not_found', 'conflict', 'upstream_error'];

/** Prices that public lists propose. */
export const PROPOSAL_OPERATIONS = operationsOf('Admin', {
  adminListPriceProposals: read('Proposals of the last 7 days, without their items', ROWS),
  adminReadPriceProposal: read('One proposal with its items', OBJECT, [PROPOSAL_ID], GONE),
  adminAddPriceProposal: taking(
    NewProposalBody,
    change('Read a list of prices and hold it against the price book', [], PROPOSED),
  ),
  adminApplyPriceProposal: taking(
    ChosenItemsBody,
    change('Put the prices of chosen items into the price book, once', [PROPOSAL_ID], CLASHING),
  ),
  adminUndoPriceProposal: change('Take back what was applied, unless prices changed since', [PROPOSAL_ID], CLASHING),
  adminSimulatePrices: taking(
    SimulationBody,
    change('What past usage would have brought at other prices', [], ['invalid_parameter', 'not_found', 'conflict']),
  ),
  adminListPriceNames: read('Which entries of lists are of which model, as operators said', ROWS),
  adminSetPriceName: taking(PriceNameBody, change('Say which model an entry of a list is of, or that it is none')),
});

/** The models on sale, and their vendors. */
export const CATALOGUE_OPERATIONS = operationsOf('Admin', {
  adminListPrices: read('Current prices, or all', ROWS, queryOf(PriceQuery)),
  adminAddPrice: taking(NewPriceBody, change('Add a price', [], ['invalid_parameter', 'conflict'])),
  adminExportPrices: read('Prices in force and to come, in the form of PRICES_FILE', ROWS, queryOf(ExportQuery)),
  adminImportPrices: change('Put a list of dated prices into the price book, all or nothing', queryOf(ImportQuery), [
    'invalid_parameter',
    'conflict',
  ]),
  adminListUpstreams: read('List upstreams of text and media', ROWS),
  adminAddUpstream: {
    ...change('Add an upstream; kind is text or media', [], ['invalid_parameter', 'conflict']),
    body: UPSTREAM,
  },
  adminReadUpstream: read('Read an upstream', OBJECT, [UPSTREAM_ID], GONE),
  adminChangeUpstream: {
    ...change('Change an upstream by a JSON merge patch', [UPSTREAM_ID], CLASHING),
    body: UPSTREAM,
  },
  adminVerifyUpstream: read(
    'Test the key of an upstream, and show what holds for its models',
    OBJECT,
    [UPSTREAM_ID],
    CLASHING,
  ),
  adminRemoveUpstream: change('Remove an upstream', [UPSTREAM_ID], CLASHING),
});

/** What was written down. */
export const RECORD_OPERATIONS = operationsOf('Admin', {
  adminListLedger: read('Entries of the ledger', LIST, queryOf(LedgerQuery)),
  adminListAudit: read('List changes made by operators', LIST, queryOf(AuditQuery)),
  adminReadUsage: read('Sums of requests, tokens and money', ROWS, queryOf(AccountUsageSumsQuery)),
  adminReadMargins: read('What upstreams earned and cost', ROWS, queryOf(MarginsQuery)),
  adminListUsageRecords: read('Every request and task with its price', LIST, queryOf(AccountUsageQuery)),
  adminListReconciliations: read('The latest reconciliations', ROWS),
  adminReconcile: change('Reconcile now', queryOf(ReconcileQuery), ['invalid_parameter', 'conflict']),
});

/** Tasks, deliveries and workers. */
export const TASK_OPERATIONS = operationsOf('Admin', {
  adminSearchTasks: read('Search all tasks, newest first', LIST, queryOf(TaskSearchQuery)),
  adminReadTask: read(
    'A task with its timeline, ledger entries, usage and webhook deliveries',
    OBJECT,
    [TASK_ID],
    ['task_not_found'],
  ),
  adminCancelTask: taking(ReasonBody, change('Stop a task, as its owner can', [TASK_ID], OF_TASK)),
  adminRefundTask: taking(RefundBody, change('Refund, once for each reference', [TASK_ID], OF_TASK)),
  adminRedriveTask: taking(
    ReasonBody,
    change('Redrive a failed task as a new one with its own hold', [TASK_ID], [...OF_TASK, ...UNPAID_CODES]),
  ),
  adminListTasksNeedingAttention: read('What needs an operator: parked tasks, unconfirmed starts, orphans', OBJECT),
  adminListDeliveries: read('Webhook deliveries of all accounts, newest first', LIST, queryOf(DeliveriesQuery)),
  adminRedeliver: change(
    'Send a delivery again at once, under the same id',
    [inPath('delivery_id', 'The id of the delivery.')],
    ['not_found'],
  ),
  adminListWorkers: read('The worker processes and their current tasks', ROWS, queryOf(WorkersQuery)),
});
