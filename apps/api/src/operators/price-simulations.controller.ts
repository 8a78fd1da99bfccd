import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { GatewayError } from '#contracts';
import { PriceProposalsService, PriceSimulation, type Simulated } from '#features';
import { checked } from '../checked-input.js';
import { clientGone } from '../http/client-gone.js';
import { Route, Routes } from '../http/route.js';
import { daysOf } from '../list-query.js';
import { viewOf } from '../row-view.js';
import { PROPOSAL_OPERATIONS } from './admin.openapi.js';
import { SimulationBody } from './price-proposals.dto.js';
import { pricesOf } from './prices.controller.js';

/** Past usage at other prices, for operators. */
@Controller('admin/v1/price-simulations')
@Routes({ style: 'admin', access: 'operator' })
export class PriceSimulationsController {
  constructor(
    private readonly simulation: PriceSimulation,
    private readonly proposals: PriceProposalsService,
  ) {}

  /** Changes nothing. */
  @Post()
  @Route({ operation: PROPOSAL_OPERATIONS.adminSimulatePrices, body: 'list' })
  @HttpCode(200)
  async run(@Body() body: unknown, @Res({ passthrough: true }) response: Response): Promise<unknown> {
    const simulated = await simulatedOf(body, this.proposals);
    const { from, to } = simulated;
    return { from, to, ...(viewOf(await this.simulation.run(simulated, clientGone(response))) as object) };
  }
}

/**
 * What is to be simulated.
 *
 * @throws GatewayError `invalid_parameter`; `not_found`: there is no such proposal.
 */
export async function simulatedOf(body: unknown, proposals: PriceProposalsService): Promise<Simulated> {
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
