import { Body, Controller, Get, HttpCode, Inject, Param, Post, Put, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PriceNamesService, PriceProposalsService, PricesBelowCost } from '#features';
import { PLATFORM, type Platform } from '#runtime';
import { checked } from '../checked-input.js';
import { clientGone } from '../http/client-gone.js';
import { envelope } from '../http/envelope.js';
import { Route, Routes } from '../http/route.js';
import { SerializedBody } from '../http/serialized-body.js';
import { viewOf } from '../row-view.js';
import { operatorOf } from './admin-gate.js';
import { PROPOSAL_OPERATIONS } from './admin.openapi.js';
import { ChosenItemsBody, newProposalOf, priceNameOf, proposalView } from './price-proposals.dto.js';

/** Prices that public lists propose, for operators. */
@Controller('admin/v1')
@Routes({ style: 'admin', access: 'operator' })
export class PriceProposalsController {
  constructor(
    private readonly proposals: PriceProposalsService,
    private readonly names: PriceNamesService,
    private readonly belowCost: PricesBelowCost,
    @Inject(PLATFORM) private readonly platform: Pick<Platform, 'config'>,
  ) {}

  @Get('price-proposals')
  @Route({ operation: PROPOSAL_OPERATIONS.adminListPriceProposals })
  async all(): Promise<unknown> {
    return (await this.proposals.all()).map(proposalView);
  }

  @Get('price-proposals/:proposal_id')
  @Route({ operation: PROPOSAL_OPERATIONS.adminReadPriceProposal, answer: 'native' })
  async one(@Param('proposal_id') id: string): Promise<SerializedBody> {
    const [proposal, items] = [await this.proposals.one(id), await this.proposals.items(id)];
    return SerializedBody.longJson(envelope({ ...proposalView(proposal), items }));
  }

  /** Reads a list. The prices stay as they are. */
  @Post('price-proposals')
  @Route({ operation: PROPOSAL_OPERATIONS.adminAddPriceProposal, body: 'list', answer: 'native' })
  @HttpCode(200)
  async create(
    @Body() body: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SerializedBody> {
    const asked = newProposalOf(body, this.platform.config.server.BALANCE_UNIT);
    const { id } = await this.proposals.create(operatorOf(request), asked, clientGone(response));
    return this.one(id);
  }

  @Post('price-proposals/:proposal_id/apply')
  @Route({ operation: PROPOSAL_OPERATIONS.adminApplyPriceProposal, body: 'list' })
  @HttpCode(200)
  async apply(@Param('proposal_id') id: string, @Body() body: unknown, @Req() request: Request): Promise<unknown> {
    const { items } = checked(ChosenItemsBody, body);
    const { proposal, added, changed, prices } = await this.proposals.apply(operatorOf(request), id, items);
    return { ...proposalView(proposal), added, changed, warnings: viewOf(await this.belowCost.ofPrices(prices)) };
  }

  @Post('price-proposals/:proposal_id/undo')
  @Route({ operation: PROPOSAL_OPERATIONS.adminUndoPriceProposal })
  @HttpCode(200)
  async undo(@Param('proposal_id') id: string, @Req() request: Request): Promise<unknown> {
    const { proposal, added, changed } = await this.proposals.undo(operatorOf(request), id);
    return { ...proposalView(proposal), removed: added, put_back: changed };
  }

  @Get('price-names')
  @Route({ operation: PROPOSAL_OPERATIONS.adminListPriceNames })
  async listNames(): Promise<unknown> {
    return this.names.all();
  }

  /** Kept for every later proposal. */
  @Put('price-names')
  @Route({ operation: PROPOSAL_OPERATIONS.adminSetPriceName })
  async setName(@Body() body: unknown, @Req() request: Request): Promise<unknown> {
    return this.names.save(operatorOf(request), priceNameOf(body));
  }
}
