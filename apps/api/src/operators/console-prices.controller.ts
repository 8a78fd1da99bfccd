import { Body, Inject, Param, Query, Req, Res } from '@nestjs/common';
import { IsArray, IsBoolean, IsOptional } from 'class-validator';
import type { Request, Response } from 'express';
import {
  type AdminCostWarnings,
  type AdminPrice,
  type AdminPriceList,
  type AdminPriceListSummary,
  type AdminPriceProposal,
  type AdminPriceProposalDetails,
  type AdminPriceSimulation,
  GatewayError,
} from '#contracts';
import {
  AccountsService,
  belowCostText,
  missingText,
  type NewPriceRule,
  PriceImport,
  PriceListsService,
  PriceNamesService,
  PricePreview,
  PriceProposalsService,
  PricesBelowCost,
  PriceSimulation,
  PricesService,
  type ProposalView,
} from '#features';
import { PLATFORM, type Platform } from '#runtime';
import { checked } from '../checked-input.js';
import { clientGone } from '../http/client-gone.js';
import { IsMoment, IsText } from '../input-fields.js';
import { shownList, shownSummary } from './price-lists.controller.js';
import { AssignedListBody, NewPriceListBody, NewRulesBody, newRulesOf } from './price-lists.dto.js';
import { ChosenItemsBody, newProposalOf, priceNameOf, proposalView } from './price-proposals.dto.js';
import { simulatedOf } from './price-simulations.controller.js';
import { beginning, newPriceOf, PriceQuery } from './price.dto.js';
import { pricesOf } from './prices.controller.js';
import { viewOf } from '../row-view.js';
import { actorOf, type Answer, ConsoleRoute, ConsoleRoutes } from '../console/console-routes.js';
import { ConsolePageQuery } from '../console/console-tasks.controller.js';
import { rowOf } from '../console/views.js';

/** The most accounts of a list that are shown. */
const ACCOUNTS_SHOWN = 1_000;

class OthersQuery extends ConsolePageQuery {
  /** A part of the name that the list gives. */
  @IsOptional() @IsText(200) text?: string;
}

class NewPricesBody {
  @IsArray() prices!: unknown[];

  /** Of all of them, whatever they say; absent: now. */
  @IsOptional() @IsMoment() effective_from?: string;
  @IsBoolean() dry_run = false;
}

/** The price book, lists of prices by customer, and what public lists propose, for operators. */
@ConsoleRoutes()
export class AdminPricesController {
  constructor(
    private readonly prices: PricesService,
    private readonly previews: PricePreview,
    private readonly imports: PriceImport,
    private readonly belowCost: PricesBelowCost,
    private readonly proposals: PriceProposalsService,
    private readonly names: PriceNamesService,
    private readonly simulation: PriceSimulation,
    private readonly lists: PriceListsService,
    private readonly accounts: AccountsService,
    @Inject(PLATFORM) private readonly platform: Pick<Platform, 'config'>,
  ) {}

  @ConsoleRoute('GET /admin/prices')
  async listPrices(@Query() query: unknown): Answer<'GET /admin/prices'> {
    const { model = null, at, history } = checked(PriceQuery, query);
    const moment = at === undefined ? new Date() : new Date(at);
    const rows = await (history === 'true' ? this.prices.history(model) : this.prices.inForce(model, moment));
    return { items: rows.map((row) => rowOf<AdminPrice>(row)) };
  }

  @ConsoleRoute('POST /admin/prices/preview')
  async preview(@Body() body: unknown): Answer<'POST /admin/prices/preview'> {
    return rowOf(await this.previews.of(newPriceOf(body)));
  }

  @ConsoleRoute('POST /admin/prices')
  async addPrice(@Body() body: unknown, @Req() request: Request): Answer<'POST /admin/prices'> {
    const asked = newPriceOf(body);
    const added = rowOf<AdminPrice>(await this.prices.add(actorOf(request), asked));
    return { ...added, warnings: (await this.belowCost.ofPrices([asked])).map(belowCostText) };
  }

  /** Prices that begin together: a band is of use with all of its prices alone. */
  @ConsoleRoute('POST /admin/prices/set')
  async setPrices(@Body() body: unknown, @Req() request: Request): Answer<'POST /admin/prices/set'> {
    const asked = checked(NewPricesBody, body);
    const { dry_run: dryRun } = asked;
    const from = beginning(asked.effective_from) ?? new Date();
    const prices = (await pricesOf({ prices: asked.prices, effective_from: from.toISOString() })).map((price) => ({
      ...price,
      effectiveFrom: from,
    }));
    const file = { prices, lists: [] };
    const done = await (dryRun ? this.imports.compare(file) : this.imports.run(actorOf(request), file));
    if (done.missing.length > 0)
      throw new GatewayError('invalid_parameter', `${missingText(done.missing)}.`, { param: 'prices' });
    const [conflict] = done.conflicts;
    if (conflict)
      throw new GatewayError(
        'conflict',
        `${conflict.model} ${conflict.unit} has another price since ${conflict.effective_from}: let these begin later.`,
        { param: 'effective_from' },
      );
    return {
      added: done.added.length,
      changed: done.changed.length,
      unchanged: done.unchanged,
      warnings: (await this.belowCost.ofPrices(prices)).map(belowCostText),
    };
  }

  @ConsoleRoute('GET /admin/price-proposals')
  async listProposals(): Answer<'GET /admin/price-proposals'> {
    return { items: (await this.proposals.all()).map(proposalOf) };
  }

  @ConsoleRoute('GET /admin/price-proposals/:proposal_id')
  async readProposal(@Param('proposal_id') id: string): Answer<'GET /admin/price-proposals/:proposal_id'> {
    const [proposal, all] = [await this.proposals.one(id), await this.proposals.items(id)];
    const items = all.filter(({ model }) => model !== null);
    const details: AdminPriceProposalDetails = { ...proposalOf(proposal), items, others: all.length - items.length };
    return details;
  }

  @ConsoleRoute('GET /admin/price-proposals/:proposal_id/others')
  async listOthers(
    @Param('proposal_id') id: string,
    @Query() query: unknown,
  ): Answer<'GET /admin/price-proposals/:proposal_id/others'> {
    const { limit, cursor, text = '' } = checked(OthersQuery, query);
    const asked = text.toLowerCase();
    const found = (await this.proposals.items(id)).filter(
      (item) => item.model === null && item.id.toLowerCase().includes(asked),
    );
    const begin = Number(cursor ?? 0) || 0;
    const end = begin + limit;
    return { items: found.slice(begin, end), next_cursor: end < found.length ? String(end) : null };
  }

  @ConsoleRoute('POST /admin/price-proposals', { body: 'list' })
  async propose(
    @Body() body: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Answer<'POST /admin/price-proposals'> {
    const asked = newProposalOf(body, this.platform.config.server.BALANCE_UNIT);
    return proposalOf(await this.proposals.create(actorOf(request), asked, clientGone(response)));
  }

  @ConsoleRoute('POST /admin/price-proposals/:proposal_id/apply', { body: 'list' })
  async apply(
    @Param('proposal_id') id: string,
    @Body() body: unknown,
    @Req() request: Request,
  ): Answer<'POST /admin/price-proposals/:proposal_id/apply'> {
    const { items } = checked(ChosenItemsBody, body);
    const { proposal, added, changed } = await this.proposals.apply(actorOf(request), id, items);
    return { proposal: proposalOf(proposal), added, changed };
  }

  @ConsoleRoute('POST /admin/price-proposals/:proposal_id/undo')
  async undo(
    @Param('proposal_id') id: string,
    @Req() request: Request,
  ): Answer<'POST /admin/price-proposals/:proposal_id/undo'> {
    const { proposal, added, changed } = await this.proposals.undo(actorOf(request), id);
    return { proposal: proposalOf(proposal), added, changed };
  }

  @ConsoleRoute('GET /admin/price-names')
  async listNames(): Answer<'GET /admin/price-names'> {
    return { items: await this.names.all() };
  }

  @ConsoleRoute('POST /admin/price-names')
  setName(@Body() body: unknown, @Req() request: Request): Answer<'POST /admin/price-names'> {
    return this.names.save(actorOf(request), priceNameOf(body));
  }

  @ConsoleRoute('POST /admin/price-simulations', { body: 'list' })
  async simulate(
    @Body() body: unknown,
    @Res({ passthrough: true }) response: Response,
  ): Answer<'POST /admin/price-simulations'> {
    const simulated = await simulatedOf(body, this.proposals);
    const { from, to } = simulated;
    const found = viewOf(await this.simulation.run(simulated, clientGone(response))) as AdminPriceSimulation;
    const names = await this.accounts.namesOf(found.accounts.map(({ account_id: id }) => id));
    const accounts = found.accounts.map((sum) => ({ ...sum, account_name: names.get(sum.account_id) ?? '' }));
    return { ...found, from, to, accounts };
  }

  @ConsoleRoute('GET /admin/price-lists')
  async listLists(): Answer<'GET /admin/price-lists'> {
    const lists = await this.lists.all();
    const names = await this.accounts.namesOf(lists.flatMap(({ first_accounts: accounts }) => accounts));
    return {
      items: lists.map(({ first_accounts: accounts, ...list }) =>
        rowOf<AdminPriceListSummary>({
          ...shownSummary(list),
          account_names: accounts.map((id) => names.get(id) ?? id),
        }),
      ),
    };
  }

  @ConsoleRoute('GET /admin/price-lists/:list_id')
  async readList(@Param('list_id') id: string): Answer<'GET /admin/price-lists/:list_id'> {
    return this.listOf(await this.lists.one(id));
  }

  @ConsoleRoute('POST /admin/price-lists')
  async addList(@Body() body: unknown, @Req() request: Request): Answer<'POST /admin/price-lists'> {
    const { id, name, rules = [] } = checked(NewPriceListBody, body);
    const list = { id, name, rules: await newRulesOf(rules) };
    return this.withWarnings(await this.lists.create(actorOf(request), list), list.rules);
  }

  @ConsoleRoute('POST /admin/price-lists/:list_id/rules')
  async addRules(
    @Param('list_id') id: string,
    @Body() body: unknown,
    @Req() request: Request,
  ): Answer<'POST /admin/price-lists/:list_id/rules'> {
    const rules = await newRulesOf(checked(NewRulesBody, body).rules);
    return this.withWarnings(await this.lists.addRules(actorOf(request), id, rules), rules);
  }

  @ConsoleRoute('POST /admin/accounts/:account_id/price-list')
  async assign(
    @Param('account_id') id: string,
    @Body() body: unknown,
    @Req() request: Request,
  ): Answer<'POST /admin/accounts/:account_id/price-list'> {
    const { list, effective_from: from } = checked(AssignedListBody, body);
    return rowOf(await this.lists.assign(actorOf(request), id, list, beginning(from)));
  }

  /** With the names of those that have it. */
  private async listOf(list: ListRow): Promise<AdminPriceList> {
    const { accounts, ...shown } = viewOf(shownList(list)) as Omit<AdminPriceList, 'accounts'> & ListRow;
    const ids = accounts.slice(0, ACCOUNTS_SHOWN);
    const names = await this.accounts.namesOf(ids);
    return {
      ...shown,
      accounts: ids.map((id) => ({ id, name: names.get(id) ?? id })),
    };
  }

  /** The list, and what its new rules sell below cost. */
  private async withWarnings(
    list: ListRow,
    rules: readonly NewPriceRule[],
  ): Promise<AdminPriceList & AdminCostWarnings> {
    const found = await this.belowCost.ofRules(list.id, rules);
    return { ...(await this.listOf(list)), warnings: found.map(belowCostText) };
  }
}

type ListRow = Awaited<ReturnType<PriceListsService['one']>>;

const proposalOf = (proposal: ProposalView): AdminPriceProposal => proposalView(proposal) as AdminPriceProposal;
