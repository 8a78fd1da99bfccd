import { Injectable } from '@nestjs/common';
import { GatewayError } from '#contracts';
import { brokeConstraint, Database, type StatementRunner } from '#platform';
import { AuditedChanges, changeOf, type Operator } from '../../audit/audit.js';
import type { ShownRow } from '../../paging/page.js';
import type { DatedRule } from './check-prices.js';
import { priceListNow } from './price-book.js';
import { missingText } from './price-import.js';
import { missingInLists, sentRule } from './price-list-import.js';

export interface NewPriceRule extends Omit<DatedRule, 'effectiveFrom'> {
  /** Null: now. */
  readonly effectiveFrom: Date | null;
}

export interface PriceListSummary extends ShownRow {
  /** What it makes of every price of the book now, in millionths; null: nothing. */
  readonly factor_millionths: bigint | null;
  /** The first three accounts that have it now. */
  readonly first_accounts: readonly string[];
}

export interface PriceListView extends ShownRow {
  readonly id: string;
  /** All there were and will be, newest first; at most 10,000. */
  readonly rules: readonly object[];
  /** Those that have it now; at most 10,000. */
  readonly accounts: readonly string[];
}

/** The most lists, rules of one and accounts that an answer shows. */
const SHOWN_MAX = 10_000;

const HELD = `
select distinct on (account_id) account_id, list_id from account_price_list where effective_from <= now()
order by account_id, effective_from desc`;

const LISTS = `
select l.id, l.name, l.created_by, l.created_at, general.factor_millionths, coalesce(r.rule_count, 0) as rule_count,
  coalesce(h.account_count, 0) as account_count, coalesce(h.first_accounts, '{}') as first_accounts
from price_list l
left join (select list_id, count(*)::integer as rule_count from price_list_rule group by list_id) r on r.list_id = l.id
left join (
  select list_id, count(*)::integer as account_count, (array_agg(account_id order by account_id))[1:3] as first_accounts
  from (${HELD}) held group by list_id
) h on h.list_id = l.id
left join lateral (
  select factor_millionths from price_list_rule
  where list_id = l.id and model = '*' and unit is null and variant is null and factor_millionths is not null and effective_from <= now()
  order by effective_from desc, id desc limit 1
) general on true
order by l.id limit ${SHOWN_MAX}`;

const LIST = `
select l.id, l.name, l.created_by, l.created_at,
  coalesce((select jsonb_agg(to_jsonb(r) - '{list_id,created_at,scope}'::text[]
      || jsonb_build_object('factor_millionths', r.factor_millionths::text, 'amount_micros', r.amount_micros::text) order by r.effective_from desc, r.id desc)
    from (select * from price_list_rule r where r.list_id = l.id order by effective_from desc, id desc limit ${SHOWN_MAX}) r),
    '[]') as rules,
  coalesce((array_agg(h.account_id order by h.account_id) filter (where h.account_id is not null))[1:${SHOWN_MAX}], '{}') as accounts,
  count(h.account_id)::integer as account_count
from price_list l left join (${HELD}) h on h.list_id = l.id where l.id = $1 group by l.id`;

const ADD_LIST = `insert into price_list (id, name, created_by) values ($1, $2, $3)`;
const ADD_RULES = `
insert into price_list_rule (id, list_id, model, unit, variant, from_input_tokens, factor_millionths, amount_micros, per_quantity,
  effective_from, created_by)
select r.id, $2, r.model, r.unit, r.variant, r.from_input_tokens, r.factor_millionths, r.amount_micros, r.per_quantity,
  coalesce(r.effective_from, now()), $3
from jsonb_to_recordset($1::jsonb) as r(id text, model text, unit text, variant text, from_input_tokens bigint,
  factor_millionths bigint, amount_micros bigint, per_quantity bigint, effective_from timestamptz)`;
const ASSIGN = `
insert into account_price_list (account_id, list_id, effective_from, created_by)
values ($1, $2, coalesce($3, now()), $4) returning account_id, list_id as list, effective_from, created_by`;
const OF_ACCOUNT = `
select l.id, l.name from (${priceListNow('$1')}) n join price_list l on l.id = n.list_id`;
const EXISTS = 'select 1 from price_list where id = $1';
const ACCOUNT_EXISTS = 'select 1 from account where id = $1';

/** Price lists and who has which, for operators. Nothing of them is changed: what comes later replaces it. */
@Injectable()
export class PriceListsService {
  constructor(
    private readonly database: Database,
    private readonly changes: AuditedChanges,
  ) {}

  async all(): Promise<PriceListSummary[]> {
    return (await this.database.query<PriceListSummary>({ text: LISTS })).rows;
  }

  /** @throws GatewayError `not_found`. */
  async one(id: string): Promise<PriceListView> {
    const { rows } = await this.database.query<PriceListView>({ text: LIST, values: [id] });
    if (!rows[0]) throw unknownList(id, 'list_id');
    return rows[0];
  }

  /** The one that an account has now; null: the book. */
  async ofAccount(accountId: string): Promise<{ readonly id: string; readonly name: string } | null> {
    const { rows } = await this.database.query<{ id: string; name: string }>({ text: OF_ACCOUNT, values: [accountId] });
    return rows[0] ?? null;
  }

  /** @throws GatewayError `conflict`: there is a list of this id, or two rules of one scope begin at one moment. */
  async create(
    operator: Operator,
    { id, name, rules }: { readonly id: string; readonly name: string; readonly rules: readonly NewPriceRule[] },
  ): Promise<PriceListView> {
    await refusingTwice(() =>
      this.changes.runStatements(operator, async (transaction) => {
        await transaction.query({ text: ADD_LIST, values: [id, name, operator.actor] });
        if (rules.length > 0) await addRules(transaction, id, rules, operator);
        return { result: undefined, change: changeOf('price', 'price_list.added', id, null, { id, name, rules }) };
      }),
    );
    return this.one(id);
  }

  /** @throws GatewayError `not_found`; `conflict`: two rules of one scope begin at one moment. */
  async addRules(operator: Operator, id: string, rules: readonly NewPriceRule[]): Promise<PriceListView> {
    await this.one(id);
    await refusingTwice(() =>
      this.changes.runStatements(operator, async (transaction) => {
        await addRules(transaction, id, rules, operator);
        return { result: undefined, change: changeOf('price', 'price_list.rules_added', id, null, { rules }) };
      }),
    );
    return this.one(id);
  }

  /**
   * Gives an account a list from a moment on; null: the book.
   *
   * @throws GatewayError `not_found` for the account or the list; `conflict`: another one begins at the same moment.
   */
  async assign(operator: Operator, accountId: string, list: string | null, from: Date | null): Promise<object> {
    return refusingTwice(() =>
      this.changes.runStatements(operator, async (transaction) => {
        const accounts = await transaction.query({ text: ACCOUNT_EXISTS, values: [accountId] });
        if (accounts.rows.length === 0)
          throw new GatewayError('not_found', `There is no account "${accountId}".`, { param: 'account_id' });
        if (list !== null && (await transaction.query({ text: EXISTS, values: [list] })).rows.length === 0)
          throw unknownList(list, 'list');
        const { rows } = await transaction.query({ text: ASSIGN, values: [accountId, list, from, operator.actor] });
        const result: object = rows[0] ?? {};
        return { result, change: changeOf('account', 'account.price_list_set', accountId, null, result) };
      }),
    );
  }
}

/** @throws GatewayError `invalid_parameter`: a band of own amounts lacks prices. */
async function addRules(
  transaction: StatementRunner,
  id: string,
  rules: readonly NewPriceRule[],
  { actor }: Operator,
): Promise<void> {
  const now = new Date();
  const dated = rules.map((rule) => ({ ...rule, effectiveFrom: rule.effectiveFrom ?? now }));
  const missing = await missingInLists(transaction, [{ id, rules: dated }]);
  if (missing.length > 0)
    throw new GatewayError('invalid_parameter', `${missingText(missing)}; add them together.`, { param: 'rules' });
  await transaction.query({ text: ADD_RULES, values: [JSON.stringify(rules.map(sentRule)), id, actor] });
}

const unknownList = (id: string, param: string): GatewayError =>
  new GatewayError('not_found', `There is no price list "${id}".`, { param });

const TWICE: readonly (readonly [constraint: string, message: string])[] = [
  ['price_list_pkey', 'There is a price list of this id already.'],
  ['price_list_rule_starts_once', 'Another rule of the same model, unit, variant and band begins at that moment.'],
  ['account_price_list_pkey', 'Another price list of the account begins at that moment.'],
];

async function refusingTwice<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const twice = TWICE.find(([constraint]) => brokeConstraint(error, constraint));
    if (!twice) throw error;
    throw new GatewayError('conflict', twice[1], { cause: error });
  }
}
