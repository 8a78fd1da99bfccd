import { Body, Controller, Get, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { stringify } from 'yaml';
import { GatewayError } from '#contracts';
import {
  checkPrices,
  type DatedPrice,
  exportPrices,
  fieldName,
  PriceImport,
  PricesBelowCost,
  PricesService,
} from '#features';
import { Database } from '#platform';
import { checked, positiveAmountOf } from '../../checked-input.js';
import { withCode } from '../../http/envelope.js';
import { Route, Routes } from '../../http/route.js';
import { viewOf, viewOfRow } from '../../row-view.js';
import { operatorOf } from './admin-gate.js';
import { CATALOGUE_OPERATIONS } from './admin.openapi.js';
import { ExportQuery, ImportQuery, NewPriceBody, PriceQuery } from './price.dto.js';

/** The price book, for operators. */
@Controller('admin/v1/prices')
@Routes({ style: 'admin', access: 'operator' })
export class PricesController {
  constructor(
    private readonly prices: PricesService,
    private readonly imports: PriceImport,
    private readonly database: Database,
    private readonly belowCost: PricesBelowCost,
  ) {}

  @Get()
  @Route({ operation: CATALOGUE_OPERATIONS.adminListPrices })
  async list(@Query() query: unknown): Promise<unknown> {
    const { model = null, at, history } = checked(PriceQuery, query);
    const moment = at === undefined ? new Date() : new Date(at);
    const rows = history === 'true' ? this.prices.history(model) : this.prices.inForce(model, moment);
    return (await rows).map(viewOfRow);
  }

  /** What is in force and what is to come, in the form that `import` and PRICES_FILE take. */
  @Get('export')
  @Route({ operation: CATALOGUE_OPERATIONS.adminExportPrices, answer: 'native' })
  async export(@Query() query: unknown, @Res({ passthrough: true }) response: Response): Promise<unknown> {
    const { format } = checked(ExportQuery, query);
    const book = await exportPrices(this.database);
    if (format === 'json') return withCode(book);
    response.type('application/yaml');
    return stringify(book);
  }

  /** Puts a list of dated prices into the book, all or nothing; `dry_run=true` only says what would change. */
  @Post('import')
  @Route({ operation: CATALOGUE_OPERATIONS.adminImportPrices })
  @HttpCode(200)
  async import(@Query() query: unknown, @Body() body: unknown, @Req() request: Request): Promise<unknown> {
    const { dry_run: dryRun } = checked(ImportQuery, query);
    const prices = checkedPrices(body);
    const data = await (dryRun === 'true'
      ? this.imports.compare(prices)
      : this.imports.run(operatorOf(request), prices));
    const [conflict] = data.conflicts;
    if (!conflict || dryRun === 'true')
      return {
        dry_run: dryRun === 'true',
        ...data,
        warnings: viewOf(prices.flatMap((price) => this.belowCost.of(price))),
      };
    const { model, unit, variant, effective_from: from, was } = conflict;
    throw new GatewayError(
      'conflict',
      `Nothing was imported: ${model} ${unit} ${variant} has cost ${was?.amount ?? ''} since ${from}, and ${data.conflicts.length - 1} more are in force at another amount; give the new prices a later effective_from.`,
      { param: 'prices' },
    );
  }

  /** Adds a price. What was charged before stays as it was. */
  @Post()
  @Route({ operation: CATALOGUE_OPERATIONS.adminAddPrice })
  @HttpCode(200)
  async add(@Body() body: unknown, @Req() request: Request): Promise<unknown> {
    const price = checked(NewPriceBody, body);
    const asked = {
      model: price.model,
      unit: price.unit,
      variant: price.variant,
      amountMicros: positiveAmountOf(price.amount, 'amount'),
      perQuantity: BigInt(price.per_quantity),
      effectiveFrom: price.effective_from === undefined ? null : new Date(price.effective_from),
    };
    const row = await this.prices.add(operatorOf(request), asked);
    return { ...viewOfRow(row), warnings: viewOf(this.belowCost.of(asked)) };
  }
}

/** @throws GatewayError `invalid_parameter` with every mistake of the list. */
function checkedPrices(body: unknown): readonly DatedPrice[] {
  const { prices, mistakes } = checkPrices(body);
  const [first, ...rest] = mistakes.map(({ path, rule }) => ({
    param: fieldName(path),
    code: 'invalid_parameter' as const,
    message: `${fieldName(path)} ${rule}.`,
  }));
  if (first) throw GatewayError.fromFields([first, ...rest]);
  return prices;
}
