import { Body, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { GatewayError } from '#contracts';
import {
  belowCostText,
  type CheckedPrices,
  checkPricesInTurns,
  type DatedPrice,
  exportPrices,
  ENTRIES_MAX,
  type ImportedFile,
  LISTS_MAX,
  missingText,
  priceFileYaml,
  PriceImport,
  priceName,
  PricePreview,
  PricesBelowCost,
  PricesService,
  ruleConflictText,
} from '#features';
import { Database, nextTurn, Turns } from '#platform';
import { fieldName } from '#providers';
import { checked, CheckedBody, CheckedQuery } from '../checked-input.js';
import { PageRoute } from '../console/console-routes.js';
import { type AnswerOf, rowOf } from '../console/views.js';
import { envelope, withCode } from '../http/envelope.js';
import { SerializedBody } from '../http/serialized-body.js';
import { viewOf, viewOfRow } from '../row-view.js';
import { readListFile } from './list-file.js';
import { CATALOGUE_OPERATIONS } from './admin.openapi.js';
import { AdminRoute, operatorOf, OperatorRoute, OperatorRoutes } from './operator-route.js';
import {
  beginning,
  ExportQuery,
  ImportQuery,
  newPriceOf,
  NewPricesBody,
  PriceQuery,
  shownWarnings,
} from './price.dto.js';

/** The lists of a file of prices. An export as JSON has the `code` of every answer in front. */
const FILE = { mostEntries: { prices: ENTRIES_MAX, lists: LISTS_MAX }, ignored: 'code' };

/** The price book, for operators. */
@OperatorRoutes()
export class PricesController {
  constructor(
    private readonly prices: PricesService,
    private readonly previews: PricePreview,
    private readonly imports: PriceImport,
    private readonly database: Database,
    private readonly belowCost: PricesBelowCost,
  ) {}

  @OperatorRoute('GET /prices', CATALOGUE_OPERATIONS.adminListPrices)
  async list(@CheckedQuery(PriceQuery) query: PriceQuery) {
    const { model = null, at, history } = query;
    const moment = at === undefined ? new Date() : new Date(at);
    const rows = history === 'true' ? this.prices.history(model) : this.prices.inForce(model, moment);
    return (await rows).map(viewOfRow);
  }

  /** What is in force and what is to come, in the form that `import` and PRICES_FILE take. */
  @AdminRoute('GET /prices/export', CATALOGUE_OPERATIONS.adminExportPrices, { answer: 'native' })
  async export(@CheckedQuery(ExportQuery) { format }: ExportQuery): Promise<SerializedBody> {
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
  @AdminRoute('POST /prices/import', CATALOGUE_OPERATIONS.adminImportPrices, {
    body: 'operator_file',
    answer: 'native',
  })
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
  @OperatorRoute('POST /prices', CATALOGUE_OPERATIONS.adminAddPrice)
  async add(@Body() body: unknown, @Req() request: Request) {
    const asked = newPriceOf(body);
    const row = await this.prices.add(operatorOf(request), asked);
    return { ...viewOfRow(row), warnings: shownWarnings(await this.belowCost.ofPrices([asked]), request) };
  }

  @PageRoute('POST /admin/prices/preview')
  async preview(@Body() body: unknown) {
    const asked = newPriceOf(body);
    const warnings = (await this.belowCost.ofPrices([asked])).map(belowCostText);
    return { ...rowOf<AnswerOf<'POST /admin/prices/preview'>>(await this.previews.of(asked)), warnings };
  }

  /** Prices that begin together: a band is of use with all of its prices alone. */
  @PageRoute('POST /admin/prices/set')
  async setPrices(@CheckedBody(NewPricesBody) asked: NewPricesBody, @Req() request: Request) {
    const { dry_run: dryRun } = asked;
    const from = beginning(asked.effective_from) ?? new Date();
    const prices = (await pricesOf({ prices: asked.prices, effective_from: from.toISOString() })).map((price) => ({
      ...price,
      effectiveFrom: from,
    }));
    const file = { prices, lists: [] };
    const done = await (dryRun ? this.imports.compare(file) : this.imports.run(operatorOf(request), file));
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
