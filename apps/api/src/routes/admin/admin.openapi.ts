import { type ErrorCode, type JsonObject, MEDIA, PUBLIC_STATUSES, TASK_TRANSITIONS, UNPAID_CODES } from '#contracts';
import { schemaOfInput } from '../../http/input-schema.js';
import { envelopeSchema, inHeader, inPath, inQuery, type OperationText, operationsOf } from '../../http/operation.js';
import { AccountChange, FundingBody, NewAccount, PromptLogBody, TagLimitsBody } from './account.dto.js';
import { KeyChange, NewKeyBody, Rotation } from './key.dto.js';
import { AssignedListBody, NewPriceListBody, NewRulesBody } from './price-lists.dto.js';
import { ChosenItemsBody, NewProposalBody, PriceNameBody, SimulationBody } from './price-proposals.dto.js';
import { NewPriceBody } from './price.dto.js';
import { ReasonBody, RefundBody } from './task.dto.js';

const TEXT: JsonObject = { type: 'string' };
const DAY: JsonObject = { type: 'string', format: 'date' };
const TIME: JsonObject = { type: 'string', format: 'date-time' };
const BOOLEAN: JsonObject = { type: 'string', enum: ['true', 'false'], default: 'false' };

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
const PAGING = [
  inQuery('limit', 'Rows of one page.', { type: 'integer', minimum: 1, maximum: 1_000, default: 50 }),
  inQuery('cursor', 'The `next_cursor` of the page before.', TEXT),
  inQuery('format', 'CSV holds the whole list.', { type: 'string', enum: ['json', 'csv'], default: 'json' }),
];
const DAYS = [inQuery('from', 'First day (UTC).', DAY), inQuery('to', 'Last day (UTC).', DAY)];
const ofAccount = inQuery('account_id', 'Only of this account.', TEXT);
const ofTask = inQuery('task_id', 'Only of this task.', TEXT);

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

/** Looking for tasks by whatever is known of them. */
const TASK_FILTERS = [
  inQuery('task_id', 'The id of the task.', TEXT),
  inQuery('request_id', 'The `x-request-id` of the submission.', TEXT),
  ofAccount,
  inQuery('api_key_id', 'Only of this key.', TEXT),
  inQuery('model', 'Only of this model.', TEXT),
  inQuery('type', 'Only of this kind.', { type: 'string', enum: [...MEDIA] }),
  inQuery('status', 'As clients see it.', { type: 'string', enum: [...PUBLIC_STATUSES] }),
  inQuery('state', 'As the gateway keeps it.', { type: 'string', enum: Object.keys(TASK_TRANSITIONS) }),
  inQuery('error_code', 'Why it failed.', TEXT),
  inQuery('vendor_id', 'What the vendor calls the work, exactly.', TEXT),
  inQuery('vendor_request_id', "The vendor's id of a request about the task, exactly.", TEXT),
  inQuery('created_from', 'Submitted at or after this time.', TIME),
  inQuery('created_to', 'Submitted at or before this time.', TIME),
];

/** Accounts, their money and their keys. */
export const ACCOUNT_OPERATIONS = operationsOf('Admin', {
  adminListAccounts: read('List accounts', LIST, PAGING),
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
  adminListPrompts: read('Logged requests, without their words', LIST, [
    ACCOUNT_ID,
    inQuery('session', 'Only of this session.', TEXT),
    inQuery('request_id', 'Only this request.', TEXT),
    ...PAGING,
  ]),
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
  adminListPrices: read('Current prices, or all', ROWS, [
    inQuery('model', 'Only of this model.', TEXT),
    inQuery('at', 'In force at this time.', TIME),
    inQuery('history', 'Past, current and future prices.', BOOLEAN),
  ]),
  adminAddPrice: taking(NewPriceBody, change('Add a price', [], ['invalid_parameter', 'conflict'])),
  adminExportPrices: read('Prices in force and to come, in the form of PRICES_FILE', ROWS, [
    inQuery('format', 'json, or yaml for a file.', TEXT),
  ]),
  adminImportPrices: change(
    'Put a list of dated prices into the price book, all or nothing',
    [inQuery('dry_run', 'true: only says what would change.', BOOLEAN)],
    ['invalid_parameter', 'conflict'],
  ),
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
  adminListLedger: read('Entries of the ledger', LIST, [
    ofAccount,
    ofTask,
    inQuery('request_id', 'Only entries of this text request.', TEXT),
    ...PAGING,
  ]),
  adminListAudit: read('List changes made by operators', LIST, [
    inQuery('subject_id', 'The id of what was changed.', TEXT),
    ...PAGING,
  ]),
  adminReadUsage: read('Sums of requests, tokens and money', ROWS, [
    ofAccount,
    ...DAYS,
    inQuery('group_by', 'Some of day, model, key and account, separated by commas.', TEXT),
    ...PAGING,
  ]),
  adminReadMargins: read('What upstreams earned and cost', ROWS, [
    ...DAYS,
    inQuery('group_by', 'Any of day, upstream, model, account, kind, band and tag, separated by commas.', TEXT),
    inQuery('format', 'json, or csv.', { type: 'string', enum: ['json', 'csv'], default: 'json' }),
  ]),
  adminListUsageRecords: read('Every request and task with its price', LIST, [
    ofAccount,
    inQuery('request_id', 'Only that of this request, on whatever day unless days are given.', TEXT),
    ...DAYS,
    ...PAGING,
  ]),
  adminListReconciliations: read('The latest reconciliations', ROWS),
  adminReconcile: change(
    'Reconcile now',
    [inQuery('full', 'Read every entry again.', BOOLEAN)],
    ['invalid_parameter', 'conflict'],
  ),
});

/** Tasks, deliveries and workers. */
export const TASK_OPERATIONS = operationsOf('Admin', {
  adminSearchTasks: read('Search all tasks, newest first', LIST, [...TASK_FILTERS, ...PAGING]),
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
  adminListDeliveries: read('Webhook deliveries of all accounts, newest first', LIST, [
    ofAccount,
    inQuery('endpoint_id', 'Only to this endpoint.', TEXT),
    ofTask,
    inQuery('status', 'Only of this status.', { type: 'string', enum: ['pending', 'delivered', 'failed'] }),
    ...PAGING,
  ]),
  adminRedeliver: change(
    'Send a delivery again at once, under the same id',
    [inPath('delivery_id', 'The id of the delivery.')],
    ['not_found'],
  ),
  adminListWorkers: read('The worker processes and their current tasks', ROWS, [
    inQuery('all', 'Also those that fell silent within the last day.', BOOLEAN),
  ]),
});
