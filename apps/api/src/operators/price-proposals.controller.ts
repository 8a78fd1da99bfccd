import { Body, Inject, Param, Req } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type AdminPriceProposal, type AdminPriceSimulation, GatewayError } from '#contracts';
import {
  AccountsService,
  PriceNamesService,
  PriceProposalsService,
  PricesBelowCost,
  PriceSimulation,
  type ProposalView,
  type Simulated,
} from '#features';
import { PLATFORM, type Platform } from '#runtime';
import { checked, CheckedQuery } from '../checked-input.js';
import { PageRoute } from '../console/console-routes.js';
import { clientGone } from '../http/client-gone.js';
import { envelope } from '../http/envelope.js';
import { SerializedBody } from '../http/serialized-body.js';
import { daysOf } from '../list-query.js';
import { viewOf } from '../row-view.js';
import { PROPOSAL_OPERATIONS } from './admin.openapi.js';
import { AdminRoute, operatorOf, OperatorRoute, OperatorRoutes } from './operator-route.js';
import {
  ChosenItemsBody,
  newProposalOf,
  OthersQuery,
  priceNameOf,
  proposalView,
  SimulationBody,
} from './price-proposals.dto.js';
import { shownWarnings } from './price.dto.js';
import { pricesOf } from './prices.controller.js';
import { Reply } from '../http/route.js';

/** Prices that public lists propose, and past usage at other prices, for operators. Pages read the items of a proposal in parts. */
@OperatorRoutes()
export class PriceProposalsController {
  constructor(
    private readonly proposals: PriceProposalsService,
    private readonly names: PriceNamesService,
    private readonly belowCost: PricesBelowCost,
    private readonly simulation: PriceSimulation,
    private readonly accounts: AccountsService,
    @Inject(PLATFORM) private readonly platform: Pick<Platform, 'config'>,
  ) {}

  @OperatorRoute('GET /price-proposals', PROPOSAL_OPERATIONS.adminListPriceProposals)
  async all() {
    return (await this.proposals.all()).map(proposalView);
  }

  @AdminRoute('GET /price-proposals/:proposal_id', PROPOSAL_OPERATIONS.adminReadPriceProposal, { answer: 'native' })
  async one(@Param('proposal_id') id: string): Promise<SerializedBody> {
    const [proposal, items] = [await this.proposals.one(id), await this.proposals.items(id)];
    return SerializedBody.longJson(envelope({ ...proposalView(proposal), items }));
  }

  @PageRoute('GET /admin/price-proposals/:proposal_id')
  async oneForPages(@Param('proposal_id') id: string) {
    const [proposal, all] = [await this.proposals.one(id), await this.proposals.items(id)];
    const items = all.filter(({ model }) => model !== null);
    return { ...forPages(proposal), items, others: all.length - items.length };
  }

  @PageRoute('GET /admin/price-proposals/:proposal_id/others')
  async listOthers(
    @Param('proposal_id') id: string,
    @CheckedQuery(OthersQuery) { limit, cursor, text = '' }: OthersQuery,
  ) {
    const asked = text.toLowerCase();
    const found = (await this.proposals.items(id)).filter(
      (item) => item.model === null && item.id.toLowerCase().includes(asked),
    );
    const begin = Number(cursor ?? 0) || 0;
    const end = begin + limit;
    return { items: found.slice(begin, end), next_cursor: end < found.length ? String(end) : null };
  }

  /** Reads a list. The prices stay as they are. */
  @AdminRoute('POST /price-proposals', PROPOSAL_OPERATIONS.adminAddPriceProposal, { body: 'list', answer: 'native' })
  async create(@Body() body: unknown, @Req() request: Request, @Reply() response: Response): Promise<SerializedBody> {
    return this.one((await this.created(body, request, response)).id);
  }

  @PageRoute('POST /admin/price-proposals', { body: 'list' })
  async createForPages(@Body() body: unknown, @Req() request: Request, @Reply() response: Response) {
    return forPages(await this.created(body, request, response));
  }

  @OperatorRoute('POST /price-proposals/:proposal_id/apply', PROPOSAL_OPERATIONS.adminApplyPriceProposal, {
    body: 'list',
  })
  async apply(@Param('proposal_id') id: string, @Body() body: unknown, @Req() request: Request) {
    const { items } = checked(ChosenItemsBody, body);
    const { proposal, added, changed, prices } = await this.proposals.apply(operatorOf(request), id, items);
    const warnings = shownWarnings(await this.belowCost.ofPrices(prices), request);
    return { ...proposalView(proposal), added, changed, warnings };
  }

  @AdminRoute('POST /price-proposals/:proposal_id/undo', PROPOSAL_OPERATIONS.adminUndoPriceProposal)
  async undo(@Param('proposal_id') id: string, @Req() request: Request) {
    const { proposal, added, changed } = await this.proposals.undo(operatorOf(request), id);
    return { ...proposalView(proposal), removed: added, put_back: changed };
  }

  @PageRoute('POST /admin/price-proposals/:proposal_id/undo')
  async undoForPages(@Param('proposal_id') id: string, @Req() request: Request) {
    const { proposal, added, changed } = await this.proposals.undo(operatorOf(request), id);
    return { proposal: forPages(proposal), added, changed };
  }

  @OperatorRoute('GET /price-names', PROPOSAL_OPERATIONS.adminListPriceNames)
  listNames() {
    return this.names.all();
  }

  /** Kept for every later proposal. */
  @OperatorRoute('PUT /price-names', PROPOSAL_OPERATIONS.adminSetPriceName)
  setName(@Body() body: unknown, @Req() request: Request) {
    return this.names.save(operatorOf(request), priceNameOf(body));
  }

  /** Changes nothing. */
  @OperatorRoute('POST /price-simulations', PROPOSAL_OPERATIONS.adminSimulatePrices, { body: 'list' })
  async simulate(@Body() body: unknown, @Reply() response: Response) {
    const simulated = await simulatedOf(body, this.proposals);
    const { from, to } = simulated;
    const found = viewOf(await this.simulation.run(simulated, clientGone(response))) as AdminPriceSimulation;
    const names = await this.accounts.namesOf(found.accounts.map(({ account_id: id }) => id));
    const accounts = found.accounts.map((sum) => ({ ...sum, account_name: names.get(sum.account_id) ?? '' }));
    return { ...found, from, to, accounts };
  }

  private created(body: unknown, request: Request, response: Response): Promise<ProposalView> {
    const asked = newProposalOf(body, this.platform.config.server.BALANCE_UNIT);
    return this.proposals.create(operatorOf(request), asked, clientGone(response));
  }
}

const forPages = (proposal: ProposalView): AdminPriceProposal => proposalView(proposal) as AdminPriceProposal;

/**
 * What is to be simulated.
 *
 * @throws GatewayError `invalid_parameter`; `not_found`: there is no such proposal.
 */
async function simulatedOf(body: unknown, proposals: PriceProposalsService): Promise<Simulated> {
  const asked = checked(SimulationBody, body);
  const { from, to } = daysOf(
    { ...(asked.from !== undefined && { from: asked.from }), ...(asked.to !== undefined && { to: asked.to }) },
    null,
  );
  return { from, to, list: asked.list, prices: await pricesAsked(asked, proposals) };
}

async function pricesAsked(
  { proposal, items, prices, list }: SimulationBody,
  proposals: PriceProposalsService,
): Promise<Simulated['prices']> {
  const said = [proposal, prices, list].filter((each) => each !== undefined);
  if (said.length !== 1 || (items !== undefined && proposal === undefined))
    throw new GatewayError(
      'invalid_parameter',
      'Send exactly one of proposal, prices and list; items goes with proposal only.',
      { param: 'prices' },
    );
  if (proposal !== undefined) return proposals.pricesOf(proposal, items);
  return prices === undefined ? [] : pricesOf({ prices, effective_from: '2026-01-01' });
}
