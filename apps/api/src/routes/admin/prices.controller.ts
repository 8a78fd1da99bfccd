import { Body, Controller, Get, HttpCode, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { GatewayError } from '#contracts';
import {
  checkPricesInTurns,
  type DatedPrice,
  exportPrices,
  ENTRIES_MAX,
  fieldName,
  priceFileYaml,
  PriceImport,
  PricesBelowCost,
  PricesService,
} from '#features';
import { Database, nextTurn, Turns } from '#platform';
import { checked, positiveAmountOf } from '../../checked-input.js';
import { envelope, withCode } from '../../http/envelope.js';
import { Route, Routes } from '../../http/route.js';
import { SerializedBody } from '../../http/serialized-body.js';
import { viewOf, viewOfRow } from '../../row-view.js';
import { operatorOf } from './admin-gate.js';
import { readListFile } from './list-file.js';
import { CATALOGUE_OPERATIONS } from './admin.openapi.js';
import { ExportQuery, ImportQuery, NewPriceBody, PriceQuery } from './price.dto.js';

/** The list of a file of prices. An export as JSON has the `code` of every answer in front. */
const LIST = { name: 'prices', mostEntries: ENTRIES_MAX, ignored: 'code' };

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
  async export(@Query() query: unknown): Promise<SerializedBody> {
    const { format } = checked(ExportQuery, query);
    const book = await exportPrices(this.database);
    if (format === 'json') return SerializedBody.longJson(withCode(book));
    const pieces: Buffer[] = [];
    const turns = new Turns();
    for (const piece of priceFileYaml(book)) {
      pieces.push(Buffer.from(piece));
      if (turns.isOver) await nextTurn(turns);
    }
    return new SerializedBody(pieces, 'application/yaml; charset=utf-8');
  }

  /** Puts a list of dated prices into the book, all or nothing; `dry_run=true` only says what would change. */
  @Post('import')
  @Route({ operation: CATALOGUE_OPERATIONS.adminImportPrices, body: 'operator_file', answer: 'native' })
  @HttpCode(200)
  async import(@Query() query: unknown, @Req() request: Request): Promise<SerializedBody> {
    const { dry_run: dryRun } = checked(ImportQuery, query);
    const prices = await checkedPrices(request);
    const data = await (dryRun === 'true'
      ? this.imports.compare(prices)
      : this.imports.run(operatorOf(request), prices));
    const [conflict] = data.conflicts;
    if (!conflict || dryRun === 'true')
      return SerializedBody.longJson(
        envelope({ dry_run: dryRun === 'true', ...data, warnings: await this.#warningsOf(prices) }),
      );
    const { model, unit, variant, effective_from: from, was } = conflict;
    throw new GatewayError(
      'conflict',
      `Nothing was imported: ${model} ${unit} ${variant} has cost ${was?.amount ?? ''} since ${from}, and ${data.conflicts.length - 1} more are in force at another amount; give the new prices a later effective_from.`,
      { param: 'prices' },
    );
  }

  async #warningsOf(prices: readonly DatedPrice[]): Promise<unknown> {
    const warnings: unknown[] = [];
    const turns = new Turns();
    for (const price of prices) {
      warnings.push(...this.belowCost.of(price));
      if (turns.isOver) await nextTurn(turns);
    }
    return viewOf(warnings);
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

/** @throws GatewayError `invalid_json`, or `invalid_parameter` with the mistakes of the list. */
async function checkedPrices({ rawBody = Buffer.alloc(0), headers }: Request): Promise<readonly DatedPrice[]> {
  const { prices, mistakes } = await checkPricesInTurns(await readListFile(rawBody, headers['content-type'], LIST));
  const [first, ...rest] = mistakes.map(({ path, rule }) => ({
    param: fieldName(path),
    code: 'invalid_parameter' as const,
    message: `${fieldName(path)} ${rule}.`,
  }));
  if (first) throw GatewayError.fromFields([first, ...rest]);
  return prices;
}
