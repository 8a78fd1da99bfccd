import { Body, Controller, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import {
  factorText,
  type NewPriceRule,
  PricesBelowCost,
  PriceListsService,
  type PriceListSummary,
  type PriceListView,
} from '#features';
import { checked } from '../checked-input.js';
import { Route, Routes } from '../http/route.js';
import { viewOf } from '../row-view.js';
import { operatorOf } from './admin-gate.js';
import { PRICE_LIST_OPERATIONS } from './admin.openapi.js';
import { beginning } from './price.dto.js';
import { AssignedListBody, newRulesOf, NewPriceListBody, NewRulesBody } from './price-lists.dto.js';

/** Prices by customer, for operators. */
@Controller('admin/v1')
@Routes({ style: 'admin', access: 'operator' })
export class PriceListsController {
  constructor(
    private readonly lists: PriceListsService,
    private readonly belowCost: PricesBelowCost,
  ) {}

  @Get('price-lists')
  @Route({ operation: PRICE_LIST_OPERATIONS.adminListPriceLists })
  async all(): Promise<unknown> {
    return viewOf((await this.lists.all()).map(shownSummary));
  }

  @Get('price-lists/:list_id')
  @Route({ operation: PRICE_LIST_OPERATIONS.adminReadPriceList })
  async one(@Param('list_id') id: string): Promise<unknown> {
    return viewOf(shownList(await this.lists.one(id)));
  }

  @Post('price-lists')
  @Route({ operation: PRICE_LIST_OPERATIONS.adminAddPriceList })
  @HttpCode(200)
  async create(@Body() body: unknown, @Req() request: Request): Promise<unknown> {
    const { id, name, rules = [] } = checked(NewPriceListBody, body);
    const list = { id, name, rules: await newRulesOf(rules) };
    return this.withWarnings(await this.lists.create(operatorOf(request), list), list.rules);
  }

  @Post('price-lists/:list_id/rules')
  @Route({ operation: PRICE_LIST_OPERATIONS.adminAddPriceRules })
  @HttpCode(200)
  async addRules(@Param('list_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<unknown> {
    const rules = await newRulesOf(checked(NewRulesBody, body).rules);
    return this.withWarnings(await this.lists.addRules(operatorOf(request), id, rules), rules);
  }

  /** Gives an account a list from now or from a moment on; null gives it the book. */
  @Post('accounts/:account_id/price-list')
  @Route({ operation: PRICE_LIST_OPERATIONS.adminAssignPriceList })
  @HttpCode(200)
  async assign(@Param('account_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<unknown> {
    const { list, effective_from: from } = checked(AssignedListBody, body);
    return viewOf(await this.lists.assign(operatorOf(request), id, list, beginning(from)));
  }

  /** The list, and what its new rules sell below cost. */
  private async withWarnings(list: PriceListView, rules: readonly NewPriceRule[]): Promise<unknown> {
    return viewOf({ ...shownList(list), warnings: await this.belowCost.ofRules(list.id, rules) });
  }
}

/** A list as one of many, with the factor of every price in the form in which it is sent. */
export function shownSummary<List extends Pick<PriceListSummary, 'factor_millionths'>>({
  factor_millionths: factor,
  ...list
}: List): Omit<List, 'factor_millionths'> & { readonly factor: string | null } {
  return { ...list, factor: factor === null ? null : factorText(factor) };
}

/** A list with its rules in the form in which they are sent. */
export function shownList(list: { readonly rules: readonly object[] }): object {
  return { ...list, rules: list.rules.map((rule) => ruleView(rule as Record<string, unknown>)) };
}

const ruleView = ({ factor_millionths: factor, ...rule }: Record<string, unknown>): object =>
  Object.fromEntries(
    Object.entries({ ...rule, factor: factor == null ? null : factorText(BigInt(Number(factor))) })
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, name === 'amount_micros' ? BigInt(Number(value)) : value]),
  );
