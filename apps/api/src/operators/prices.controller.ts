import { Body, Controller, Get, HttpCode, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { GatewayError } from '#contracts';
import {
  type CheckedPrices,
  checkPricesInTurns,
  type DatedPrice,
  exportPrices,
  ENTRIES_MAX,
  fieldName,
  type ImportedFile,
  LISTS_MAX,
  missingText,
  priceFileYaml,
  PriceImport,
  priceName,
  PricesBelowCost,
  PricesService,
  ruleConflictText,
} from '#features';
import { Database, nextTurn, Turns } from '#platform';
import { checked } from '../checked-input.js';
import { envelope, withCode } from '../http/envelope.js';
import { Route, Routes } from '../http/route.js';
import { SerializedBody } from '../http/serialized-body.js';
import { viewOf, viewOfRow } from '../row-view.js';
import { operatorOf } from './admin-gate.js';
import { readListFile } from './list-file.js';
import { CATALOGUE_OPERATIONS } from './admin.openapi.js';
import { ExportQuery, ImportQuery, newPriceOf, PriceQuery } from './price.dto.js';

/** The lists of a file of prices. An export as JSON has the `code` of every answer in front. */
const FILE = { mostEntries: { prices: ENTRIES_MAX, lists: LISTS_MAX }, ignored: 'code' };

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
    const file = await checkedFile(request);
    const data = await (dryRun === 'true' ? this.imports.compare(file) : this.imports.run(operatorOf(request), file));
    if (dryRun === 'false') expectImported(data);
    return SerializedBody.longJson(
      envelope({
        dry_run: dryRun === 'true',
        ...data,
        missing: data.missing.map(viewOfRow),
        warnings: await this.warningsOf(file),
      }),
    );
  }

  private async warningsOf({ prices, lists }: PriceFile): Promise<unknown> {
    const turns = new Turns();
    const warnings = await this.belowCost.ofPrices(prices, turns);
    for (const { id, rules } of lists) warnings.push(...(await this.belowCost.ofRules(id, rules, turns)));
    return viewOf(warnings);
  }

  /** Adds a price. What was charged before stays as it was. */
  @Post()
  @Route({ operation: CATALOGUE_OPERATIONS.adminAddPrice })
  @HttpCode(200)
  async add(@Body() body: unknown, @Req() request: Request): Promise<unknown> {
    const asked = newPriceOf(body);
    const row = await this.prices.add(operatorOf(request), asked);
    return { ...viewOfRow(row), warnings: viewOf(await this.belowCost.ofPrices([asked])) };
  }
}

type PriceFile = Pick<CheckedPrices, 'prices' | 'lists'>;

/** @throws GatewayError that says what stood in the way of an import: gaps in bands, or what has been in force at another amount. */
function expectImported({ missing, conflicts, lists }: ImportedFile): void {
  if (missing.length > 0)
    throw new GatewayError('invalid_parameter', `Nothing was imported: ${missingText(missing)}.`, {
      param: missing.every(({ list }) => list !== undefined) ? 'lists' : 'prices',
    });
  const [conflict] = conflicts;
  const [rule] = lists?.conflicts ?? [];
  if (conflict) {
    const { model, unit, variant, from_input_tokens: fromInputTokens = 0, effective_from: from, was } = conflict;
    throw new GatewayError(
      'conflict',
      `Nothing was imported: ${priceName({ model, unit, variant, fromInputTokens })} has cost ${was?.amount ?? ''} since ${from}, and ${conflicts.length - 1} more are in force at another amount; give the new prices a later effective_from.`,
      { param: 'prices' },
    );
  }
  if (rule) throw new GatewayError('conflict', `Nothing was imported: ${ruleConflictText(rule)}.`, { param: 'lists' });
}

/** @throws GatewayError `invalid_json`, or `invalid_parameter` with the mistakes of the file. */
const checkedFile = async ({ rawBody = Buffer.alloc(0), headers }: Request): Promise<PriceFile> =>
  fileOf(await readListFile(rawBody, headers['content-type'], FILE));

/** @throws GatewayError `invalid_parameter` with the mistakes of a file in the form of PRICES_FILE. */
async function fileOf(sent: unknown): Promise<PriceFile> {
  const { mistakes, ...file } = await checkPricesInTurns(sent);
  const [first, ...rest] = mistakes.map(({ path, rule }) => ({
    param: fieldName(path),
    code: 'invalid_parameter' as const,
    message: `${fieldName(path)} ${rule}.`,
  }));
  if (first) throw GatewayError.fromFields([first, ...rest]);
  return file;
}

/** The prices of such a file. @throws as `fileOf`. */
export const pricesOf = async (sent: unknown): Promise<readonly DatedPrice[]> => (await fileOf(sent)).prices;
