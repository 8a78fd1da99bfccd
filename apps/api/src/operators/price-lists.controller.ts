import { Body, Param, Req } from '@nestjs/common';
import type { Request } from 'express';
import { type AdminPriceList, type AdminPriceListSummary, shortDecimal } from '#contracts';
import {
  AccountsService,
  type NewPriceRule,
  PricesBelowCost,
  PriceListsService,
  type PriceListSummary,
  type PriceListView,
} from '#features';
import { checked } from '../checked-input.js';
import { rowOf } from '../console/views.js';
import { viewOf } from '../row-view.js';
import { PRICE_LIST_OPERATIONS } from './admin.openapi.js';
import { operatorOf, OperatorRoute, OperatorRoutes } from './operator-route.js';
import { beginning, shownWarnings } from './price.dto.js';
import { AssignedListBody, newRulesOf, NewPriceListBody, NewRulesBody } from './price-lists.dto.js';

/** The most accounts of a list that are shown. */
const ACCOUNTS_SHOWN = 1_000;

/** Prices by customer, for operators. Pages name the accounts that have a list, and say in words what is sold below cost. */
@OperatorRoutes()
export class PriceListsController {
  constructor(
    private readonly lists: PriceListsService,
    private readonly belowCost: PricesBelowCost,
    private readonly accounts: AccountsService,
  ) {}

  @OperatorRoute('GET /price-lists', PRICE_LIST_OPERATIONS.adminListPriceLists)
  async all(@Req() { session }: Request) {
    const lists = await this.lists.all();
    if (!session) return viewOf(lists.map(shownSummary));
    const names = await this.accounts.namesOf(lists.flatMap(({ first_accounts: accounts }) => accounts));
    return lists.map(({ first_accounts: accounts, ...list }) =>
      rowOf<AdminPriceListSummary>({ ...shownSummary(list), account_names: accounts.map((id) => names.get(id) ?? id) }),
    );
  }

  @OperatorRoute('GET /price-lists/:list_id', PRICE_LIST_OPERATIONS.adminReadPriceList)
  async one(@Param('list_id') id: string, @Req() request: Request) {
    return this.shown(await this.lists.one(id), request);
  }

  @OperatorRoute('POST /price-lists', PRICE_LIST_OPERATIONS.adminAddPriceList)
  async create(@Body() body: unknown, @Req() request: Request) {
    const { id, name, rules: sent = [] } = checked(NewPriceListBody, body);
    const rules = await newRulesOf(sent);
    return this.ruled(await this.lists.create(operatorOf(request), { id, name, rules }), rules, request);
  }

  @OperatorRoute('POST /price-lists/:list_id/rules', PRICE_LIST_OPERATIONS.adminAddPriceRules)
  async addRules(@Param('list_id') id: string, @Body() body: unknown, @Req() request: Request) {
    const rules = await newRulesOf(checked(NewRulesBody, body).rules);
    return this.ruled(await this.lists.addRules(operatorOf(request), id, rules), rules, request);
  }

  /** Gives an account a list from now or from a moment on; null gives it the book. */
  @OperatorRoute('POST /accounts/:account_id/price-list', PRICE_LIST_OPERATIONS.adminAssignPriceList)
  async assign(@Param('account_id') id: string, @Body() body: unknown, @Req() request: Request) {
    const { list, effective_from: from } = checked(AssignedListBody, body);
    return viewOf(await this.lists.assign(operatorOf(request), id, list, beginning(from)));
  }

  /** The list, and what its new rules sell below cost. */
  private async ruled(list: PriceListView, rules: readonly NewPriceRule[], request: Request): Promise<object> {
    const warnings = shownWarnings(await this.belowCost.ofRules(list.id, rules), request);
    return { ...(await this.shown(list, request)), warnings };
  }

  /** For pages with the names of those that have it. */
  private async shown(list: PriceListView, { session }: Request): Promise<object> {
    const shown = viewOf(shownList(list)) as Omit<AdminPriceList, 'accounts'> & PriceListView;
    if (!session) return shown;
    const ids = shown.accounts.slice(0, ACCOUNTS_SHOWN);
    const names = await this.accounts.namesOf(ids);
    return { ...shown, accounts: ids.map((id) => ({ id, name: names.get(id) ?? id })) };
  }
}

/** A list as one of many, with the factor of every price in the form in which it is sent. */
function shownSummary<List extends Pick<PriceListSummary, 'factor_millionths'>>({
  factor_millionths: factor,
  ...list
}: List): Omit<List, 'factor_millionths'> & { readonly factor: string | null } {
  return { ...list, factor: factor === null ? null : shortDecimal(factor) };
}

/** A list with its rules in the form in which they are sent. */
function shownList(list: { readonly rules: readonly object[] }): object {
  return { ...list, rules: list.rules.map((rule) => ruleView(rule as Record<string, unknown>)) };
}

const ruleView = ({ factor_millionths: factor, ...rule }: Record<string, unknown>): object =>
  Object.fromEntries(
    Object.entries({ ...rule, factor: typeof factor === 'string' ? shortDecimal(BigInt(factor)) : null })
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, name === 'amount_micros' ? BigInt(String(value)) : value]),
  );
