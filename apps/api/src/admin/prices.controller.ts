import { PricesService } from '#features';
import { Body, Controller, Get, HttpCode, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { checked, positiveAmountOf } from '../checked-input.js';
import { viewOf } from '../row-view.js';
import { operatorOf } from './admin-gate.js';
import { NewPriceBody, PriceQuery } from './price.dto.js';

/** The price book, for operators. */
@Controller('admin/v1/prices')
export class PricesController {
  constructor(private readonly prices: PricesService) {}

  @Get()
  async list(@Query() query: unknown): Promise<object> {
    const { model = null, at, history } = checked(PriceQuery, query);
    const moment = at === undefined ? new Date() : new Date(at);
    const rows = history === 'true' ? this.prices.history(model) : this.prices.inForce(model, moment);
    return { code: 200, data: (await rows).map(viewOf) };
  }

  /** Adds a price. What was charged before stays as it was. */
  @Post()
  @HttpCode(200)
  async add(@Body() body: unknown, @Req() request: Request): Promise<object> {
    const price = checked(NewPriceBody, body);
    const row = await this.prices.add(operatorOf(request), {
      model: price.model,
      unit: price.unit,
      variant: price.variant,
      amountMicros: positiveAmountOf(price.amount, 'amount'),
      perQuantity: BigInt(price.per_quantity),
      effectiveFrom: price.effective_from === undefined ? null : new Date(price.effective_from),
    });
    return { code: 200, data: viewOf(row) };
  }
}
