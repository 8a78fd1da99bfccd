import { type Billing, entrySql, type JsonObject, type Medium, type Micros, type SubmissionPath } from '#contracts';
import { type Attribution, attributionColumns } from '../../billing/usage/attribution.js';
import { RENEW_RIGHTS } from '../../billing/ledger/idempotency-statements.js';
import { ACCOUNT_BOOKS, ACCOUNT_HEADROOM, KEY_BOOKS, KEY_SPARE } from '../../billing/ledger/request-statements.js';

/** A task about to be written: the checked request, the payer, and the hold. */
export interface NewTask {
  readonly id: string;
  readonly accountId: string;
  readonly apiKeyId: string;
  readonly requestId: string;
  /** Of a request that may be repeated: the task is written only while `requestId` is the attempt that does its work. */
  readonly idempotencyKey?: string | undefined;
  readonly medium: Medium;
  readonly path: SubmissionPath;
  readonly family: string;
  readonly model: string;
  readonly mode: string;
  readonly parameters: JsonObject;
  /** What `parameters` holds by number only; see `withoutLargeParameters`. */
  readonly largeParameters?: readonly string[];
  readonly notices: readonly string[];
  readonly billing: Billing;
  /** Null for a price that only the rule of a list says. */
  readonly priceId: string | null;
  /** The rule of a price list that made the price. */
  readonly priceRuleId?: string | null;
  readonly holdMicros: Micros;
  readonly priority: number;
  /** The longest the task may take, in seconds from now. */
  readonly deadlineSeconds: number;
  readonly webhookUrl: string | null;
  readonly attribution?: Attribution | undefined;
}

/** What a batch has that its statement must look after. What it has not costs nothing. */
export interface SubmitShape {
  /** A task of a request that may be repeated (`idempotency_key`). */
  readonly hasRepeatable: boolean;
  /** A key with a quota, or a limit of the day or the month. */
  readonly hasLimitedKey: boolean;
  /** A task with tags that the account limits. */
  readonly hasLimitedTags: boolean;
}

const INCOMING = `incoming as (
  select * from json_to_recordset($1::text::json) as t(
    id text, account_id text, api_key_id text, request_id text, medium text, path text, family text, model text,
    mode text, parameters jsonb, notices text[], billing_unit text, billing_variant text, billing_settle text,
    quantity integer, price_id text, price_rule_id text, hold_micros bigint, priority smallint, deadline_seconds integer, webhook_url text,
    idempotency_key text, session text, agent text, end_user text, tags text[], limited_tags text[])
)`;

const LOCKED = `locked as (
  select ${ACCOUNT_BOOKS}, least(case when not a.unlimited then a.available_micros end, ${ACCOUNT_HEADROOM}) as spare,
    not a.unlimited and a.owed_micros > 0 as in_debt
  from account a where a.id in (select account_id from incoming) and a.disabled_at is null
  order by a.id for no key update
)`;

const RIGHTFUL = `renewed as (${RENEW_RIGHTS}
), rightful as (
  select * from incoming where idempotency_key is null or request_id in (select request_id from renewed)
), `;
const LOST =
  'l.id is not null and i.idempotency_key is not null and i.request_id not in (select request_id from renewed)';

/** Not locked: the statement moves nothing when there is one. */
const LIMITED_KEY = `limited_key as (
  select k.id from api_key k where k.id in (select api_key_id from incoming)
    and (k.quota_micros is not null or k.daily_limit_micros is not null or k.monthly_limit_micros is not null)
), `;

const keysAtLimit = (rightful: string): string => `locked_key as (
  select ${KEY_BOOKS}, k.account_id, ${KEY_SPARE} as spare from api_key k join locked l on l.id = k.account_id
  where k.id in (select api_key_id from ${rightful}) order by k.id for no key update of k
), at_limit as (
  select k.id, k.account_id from locked_key k join ${rightful} r on r.api_key_id = k.id
  group by k.id, k.account_id, k.spare having k.spare < sum(r.hold_micros)
), `;

const KEYED_AS_LOCKED = `quota_micros = l.quota_micros, held_micros = l.held_micros + w.total, used_micros = l.used_micros
  from key_wanted w join locked_key l on l.id = w.api_key_id`;

/** Asked behind the lock of the account, so that two statements never see the same room. */
const tagsAtLimit = (rightful: string): string => `tag_at_limit as (
  select l.id as account_id from locked l join ${rightful} r on r.account_id = l.id cross join lateral unnest(r.limited_tags) as t(tag)
  group by l.id, t.tag having tag_room(l.id, array[t.tag]) < sum(r.hold_micros)
), `;

const writtenAndEntered = (rightful: string): string => `written as (
  insert into task (id, account_id, api_key_id, request_id, medium, path, family, model, mode, parameters, notices,
    billing_unit, billing_variant, billing_settle, quantity, price_id, price_rule_id, hold_micros, priority, deadline_at, webhook_url,
    state, lease_until, session, agent, end_user, tags)
  select id, account_id, api_key_id, request_id, medium, path, family, model, mode, parameters, notices,
    billing_unit, billing_variant, billing_settle, quantity, price_id, price_rule_id, hold_micros, priority,
    now() + deadline_seconds * interval '1 second', webhook_url, 'queued', now(),
    session, agent, end_user, tags
  from ${rightful} where account_id in (select id from charged)
  returning id, account_id, api_key_id, request_id, hold_micros
), entered as (
  insert into ledger_entry (account_id, api_key_id, task_id, request_id, kind, debit, credit, amount_micros)
  select account_id, api_key_id, id, request_id, ${entrySql('hold')}, hold_micros from written
)`;

/**
 * Writes tasks, their holds and their ledger entries in one statement and one commit.
 *
 * Set-based: all tasks of one account in the batch are accepted together or not at all.
 * - `$1`: the tasks as JSON, in the form of `toSubmitRow`.
 * - A row for each of them: whether it was `accepted`; `lost` when another attempt of its repeatable request has taken
 *   over; `in_debt`; `at_limit` when a limit or the quota of its key does not cover it; `spare`, the micros that its account has
 *   left (null where nothing limits it); and `key_has_limit` when the shape promised that no key has a limit and one has, by
 *   which nothing was written.
 * - Accounts, then keys, are locked in the order of their ids, so that two batches cannot wait for each other.
 * - An account in debt begins nothing. A task that the quota of its key, or the limit of the day or the month of its account
 *   or key does not cover is refused like one that the balance does not cover.
 *
 * The steps: `incoming` tasks; accounts `locked` with their books; `renewed` and `rightful` drop attempts that were taken
 * over from; `wanted` sums by account; `at_limit` are keys and `tag_at_limit` accounts
 * with a tag beyond their limit; `charged` moves the balances,
 * `keyed` those of the keys; `written` and `entered` are the rows of tasks and ledger.
 */
function submitSql({ hasRepeatable, hasLimitedKey, hasLimitedTags }: SubmitShape): string {
  const rightful = hasRepeatable ? 'rightful' : 'incoming';
  return `
with ${INCOMING}, ${LOCKED}, ${hasRepeatable ? RIGHTFUL : ''}wanted as (
  select account_id, sum(hold_micros)::bigint as total from ${rightful} group by account_id
), ${hasLimitedKey ? keysAtLimit(rightful) : LIMITED_KEY}${hasLimitedTags ? tagsAtLimit(rightful) : ''}charged as (
  update account a set unlimited = l.unlimited, available_micros = l.available_micros - w.total, held_micros = l.held_micros + w.total
  from locked l join wanted w on w.account_id = l.id
  where a.id = l.id and not l.in_debt and (l.spare is null or l.spare >= w.total)
    and ${hasLimitedKey ? 'l.id not in (select account_id from at_limit)' : 'not exists (select from limited_key)'}
    ${hasLimitedTags ? 'and l.id not in (select account_id from tag_at_limit)' : ''}
  returning a.id
), key_wanted as (
  select api_key_id, sum(hold_micros)::bigint as total from ${rightful}
  where account_id in (select id from charged) group by api_key_id
), keyed as (
  update api_key k set ${hasLimitedKey ? KEYED_AS_LOCKED : 'held_micros = k.held_micros + w.total from key_wanted w'}
  where k.id = w.api_key_id
), ${writtenAndEntered(rightful)}, answered as (
  select i.id, i.account_id, i.api_key_id, c.id is not null as charged, ${hasRepeatable ? LOST : 'false'} as lost,
    coalesce(l.in_debt, false) as in_debt,
    ${hasLimitedKey ? 'i.api_key_id in (select id from at_limit)' : 'false'} as at_limit, l.spare - case when c.id is null then 0 else t.total end as spare
  from incoming i left join locked l on l.id = i.account_id left join charged c on c.id = i.account_id
    left join wanted t on t.account_id = i.account_id
)
select id, account_id, api_key_id, charged and not lost as accepted, lost, in_debt, at_limit, spare,
  ${hasLimitedKey ? 'false' : 'api_key_id in (select id from limited_key)'} as key_has_limit from answered`;
}

const textOf = (hasRepeatable: boolean, hasLimitedKey: boolean): string =>
  submitSql({ hasRepeatable, hasLimitedKey, hasLimitedTags: false });
const TEXTS = {
  submit_tasks: textOf(false, false),
  submit_repeatable_tasks: textOf(true, false),
  submit_limited_tasks: textOf(false, true),
  submit_repeatable_limited_tasks: textOf(true, true),
  submit_tag_limited_tasks: submitSql({ hasRepeatable: true, hasLimitedKey: true, hasLimitedTags: true }),
};

/** The prepared statement for a batch of this shape. The shape with everything is right for every batch. */
export function submitStatement(shape: SubmitShape): { name: string; text: string } {
  const { hasRepeatable, hasLimitedKey, hasLimitedTags } = shape;
  if (hasLimitedTags) return { name: 'submit_tag_limited_tasks', text: TEXTS.submit_tag_limited_tasks };
  const name = `submit_${hasRepeatable ? 'repeatable_' : ''}${hasLimitedKey ? 'limited_' : ''}tasks` as const;
  return { name, text: TEXTS[name] };
}

/** A task as the statement's JSON argument spells it; bigints travel as text. */
export function toSubmitRow(task: NewTask): Record<string, unknown> {
  return {
    id: task.id,
    account_id: task.accountId,
    api_key_id: task.apiKeyId,
    request_id: task.requestId,
    medium: task.medium,
    path: task.path,
    family: task.family,
    model: task.model,
    mode: task.mode,
    parameters: task.parameters,
    notices: task.notices,
    billing_unit: task.billing.unit,
    billing_variant: task.billing.variant,
    billing_settle: task.billing.settle,
    quantity: task.billing.quantity,
    price_id: task.priceId,
    price_rule_id: task.priceRuleId ?? null,
    hold_micros: task.holdMicros.toString(),
    priority: task.priority,
    deadline_seconds: task.deadlineSeconds,
    webhook_url: task.webhookUrl,
    idempotency_key: task.idempotencyKey ?? null,
    ...attributionColumns(task.attribution),
    limited_tags: task.attribution?.limitedTags,
  };
}
