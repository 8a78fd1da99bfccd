import { Injectable } from '@nestjs/common';
import { formatMicros } from '#contracts';
import { Database, type StatementRunner, timeOrderedId } from '#platform';
import { missingInBands, type MissingPrice, priceName, type PriceOf, storedVariant, VARIANT } from './bands.js';
import type { CheckedPrices, DatedPrice } from './check-prices.js';
import { compareLists, type ImportedLists, missingInLists, partsOf, writeLists } from './price-list-import.js';
import { grouped } from './price-rules.js';
import { AuditedChanges, changeOf, type Operator } from '../../audit/audit.js';

/** A price in the form of PRICES_FILE. */
export type WrittenPrice = ReturnType<typeof writtenPrice>;

/** A price of a list against the one of the same model, unit, variant and moment in the book. */
export interface PriceDifference extends WrittenPrice {
  /** What the book says; null: nothing yet. */
  readonly was: { readonly amount: string; readonly per_quantity: number } | null;
}

export interface ImportedPrices {
  readonly added: readonly PriceDifference[];
  /** Prices that are not yet in force, and so may still be corrected. */
  readonly changed: readonly PriceDifference[];
  readonly unchanged: number;
  /** Prices that have been in force at another amount. With one of them, nothing is imported. */
  readonly conflicts: readonly PriceDifference[];
  /** Prices that bands would lack. With one of them, nothing is imported. */
  readonly missing: readonly MissingPrice[];
}

interface ComparedRow {
  readonly position: number;
  readonly id: string | null;
  readonly amount_micros: bigint | null;
  readonly per_quantity: bigint | null;
  readonly is_future: boolean | null;
  readonly is_withdrawn: boolean | null;
}

const SENT = `jsonb_to_recordset($1::jsonb) as s(position integer, id text, model text, unit text, variant text,
  from_input_tokens bigint, amount_micros bigint, per_quantity bigint, effective_from timestamptz)`;
const COMPARE = `
select s.position, p.id, p.amount_micros, p.per_quantity, p.effective_from > now() as is_future,
  p.withdrawn_at is not null as is_withdrawn
from ${SENT} left join price p using (model, unit, variant, effective_from) order by s.position`;
/** Another replica that starts with the same file may have been quicker. */
const WRITE = `
insert into price (id, model, unit, variant, from_input_tokens, amount_micros, per_quantity, effective_from, created_by,
  proposal_id)
select s.id, s.model, s.unit, s.variant, s.from_input_tokens, s.amount_micros, s.per_quantity, s.effective_from, $2, $3 from ${SENT}
on conflict (model, unit, variant, effective_from) do update
set amount_micros = excluded.amount_micros, per_quantity = excluded.per_quantity, created_by = excluded.created_by,
  proposal_id = excluded.proposal_id
where price.effective_from > now()`;

/** The same of a file that may hold price lists too. */
export interface ImportedFile extends ImportedPrices {
  /** Absent where the file has none. */
  readonly lists?: ImportedLists;
}

/** Puts dated prices into the book and rules into price lists: all of a file or nothing. Safe to repeat. */
@Injectable()
export class PriceImport {
  constructor(
    private readonly database: Database,
    private readonly changes: AuditedChanges,
  ) {}

  async compare(file: PriceFile): Promise<ImportedFile> {
    return compareFile(this.database, file);
  }

  /** Imports the file, unless it holds a conflict. */
  run(operator: Operator, file: PriceFile): Promise<ImportedFile> {
    return this.changes.runStatements(operator, async (transaction) => {
      const result = await compareFile(transaction, file);
      if (!isImported(result)) return { result, change: null };
      for (const part of partsOf(file.prices))
        await transaction.query({ text: WRITE, values: [JSON.stringify(part.map(toSent)), operator.actor, null] });
      if (result.lists) await writeLists(transaction, file.lists, operator.actor);
      const after = {
        ...auditedImport(result),
        ...(result.lists && { lists: { named: result.lists.named, ...auditedImport(result.lists) } }),
      };
      return { result, change: changeOf('price', 'prices.imported', 'import', null, after) };
    });
  }
}

type PriceFile = Pick<CheckedPrices, 'prices' | 'lists'>;

async function compareFile(runner: StatementRunner, { prices, lists }: PriceFile): Promise<ImportedFile> {
  const ofBook = await compareOn(runner, prices, lists);
  if (lists.length === 0) return ofBook;
  return { ...ofBook, lists: await compareLists(runner, lists) };
}

/** Whether an import changed the book: it met no conflict and no gap, and had something to add. */
const isImported = ({ added, changed, conflicts, missing, lists = NO_LISTS }: ImportedFile): boolean =>
  conflicts.length + missing.length + lists.conflicts.length === 0 &&
  added.length + changed.length + lists.added.length + lists.changed.length + lists.named.length > 0;

const NO_LISTS: ImportedLists = { named: [], added: [], changed: [], unchanged: 0, conflicts: [] };

/** Imports within a transaction. @param proposalId what proposed the prices; null: a person wrote them. */
export async function importOn(
  transaction: StatementRunner,
  prices: readonly DatedPrice[],
  actor: string,
  proposalId: string | null = null,
): Promise<ImportedPrices> {
  const result = await compareOn(transaction, prices);
  if (isImported(result))
    for (const part of partsOf(prices))
      await transaction.query({ text: WRITE, values: [JSON.stringify(part.map(toSent)), actor, proposalId] });
  return result;
}

/** The most differences of a kind that the audit lists; the book itself has all of them, with who imported them. */
const AUDITED_MAX = 1_000;

interface Differences {
  readonly added: readonly object[];
  readonly changed: readonly object[];
}

export function auditedImport({ added, changed }: Differences): object {
  const listed = { added: added.slice(0, AUDITED_MAX), changed: changed.slice(0, AUDITED_MAX) };
  const unlisted = added.length + changed.length - listed.added.length - listed.changed.length;
  return unlisted === 0 ? listed : { ...listed, unlisted };
}

async function compareOn(
  runner: Pick<StatementRunner, 'query'>,
  prices: readonly DatedPrice[],
  lists: PriceFile['lists'] = [],
): Promise<ImportedPrices> {
  const isNew = new Set<DatedPrice>();
  const found = { added: [], changed: [], unchanged: [], conflict: [] } as Record<Compared, PriceDifference[]>;
  for (const part of partsOf(prices)) {
    const { rows } = await runner.query<ComparedRow>({ text: COMPARE, values: [JSON.stringify(part.map(toSent))] });
    for (const row of rows) {
      const price = part[row.position];
      if (!price) continue;
      const kind = kindOf(row, price);
      if (kind === 'added' || kind === 'changed') isNew.add(price);
      found[kind].push(toDifference(row, price));
    }
  }
  const { added, changed, unchanged, conflict: conflicts } = found;
  const missing = [
    ...(await missingInBook(runner, prices)),
    ...(await missingInLists(
      runner,
      lists,
      prices.filter((price) => isNew.has(price)),
    )),
  ];
  return { added, changed, unchanged: unchanged.length, conflicts, missing };
}

/** $1 models. Those without a band have no more to be looked at. */
const OF_BANDED = `
select model, unit, ${VARIANT}, from_input_tokens::int as "fromInputTokens", effective_from as "effectiveFrom"
from price p where model = any($1) and withdrawn_at is null order by model`;

/** The models of a list, or of the book, that have bands. */
const BANDED = 'select distinct model from price where from_input_tokens > 0 and withdrawn_at is null';

/** What bands of the book and of lists lack where these prices are in the book as well. */
export const missingWith = async (
  runner: Pick<StatementRunner, 'query'>,
  prices: readonly AddedPrice[],
): Promise<MissingPrice[]> => [...(await missingInBook(runner, prices)), ...(await missingInLists(runner, [], prices))];

type AddedPrice = PriceOf & { readonly effectiveFrom: Date };

async function missingInBook(
  runner: Pick<StatementRunner, 'query'>,
  prices: readonly AddedPrice[],
): Promise<MissingPrice[]> {
  const { rows: known } = await runner.query<{ model: string }>({ text: BANDED });
  const banded = new Set(known.map(({ model }) => model));
  for (const { model, fromInputTokens } of prices) if (fromInputTokens > 0) banded.add(model);
  const sent = grouped(
    prices.filter(({ model }) => banded.has(model)),
    ({ model }) => model,
  );
  if (sent.size === 0) return [];
  const { rows } = await runner.query<MissingPrice>({ text: OF_BANDED, values: [[...sent.keys()]] });
  const book = grouped(rows, ({ model }) => model);
  return [...sent].flatMap(([model, added]) => {
    const since = new Date(Math.min(...added.map(({ effectiveFrom }) => effectiveFrom.getTime())));
    return missingInBands([...(book.get(model) ?? []), ...added], since);
  });
}

/** In words: what is missing, and what it would be needed for. */
export const missingText = ([first, ...others]: readonly MissingPrice[]): string =>
  first
    ? `${first.list === undefined ? '' : `in the list ${first.list} `}${priceName(first)} has no price from ${first.effectiveFrom.toISOString()} on${others.length > 0 ? `, and ${others.map(priceName).slice(0, NAMED_MAX).join(', ')} have none` : ''}: each service tier names each kind of token in every band that the model has`
    : '';

const NAMED_MAX = 20;

type Compared = 'added' | 'changed' | 'unchanged' | 'conflict';

function kindOf(row: ComparedRow, price: DatedPrice): Compared {
  if (row.id === null) return 'added';
  if (row.is_withdrawn) return 'conflict';
  if (row.amount_micros === price.amountMicros && row.per_quantity === price.perQuantity) return 'unchanged';
  return row.is_future ? 'changed' : 'conflict';
}

const toSent = (price: DatedPrice, position: number): object => ({
  position,
  id: timeOrderedId('price'),
  model: price.model,
  unit: price.unit,
  variant: storedVariant(price.variant, price.fromInputTokens),
  from_input_tokens: price.fromInputTokens,
  amount_micros: price.amountMicros.toString(),
  per_quantity: price.perQuantity.toString(),
  effective_from: price.effectiveFrom.toISOString(),
});

export const writtenPrice = ({ model, unit, variant, fromInputTokens: from, ...price }: DatedPrice) => ({
  model,
  unit,
  variant,
  ...(from > 0 && { from_input_tokens: from }),
  amount: formatMicros(price.amountMicros),
  per_quantity: Number(price.perQuantity),
  effective_from: price.effectiveFrom.toISOString(),
});

const toDifference = (row: ComparedRow, price: DatedPrice): PriceDifference => ({
  ...writtenPrice(price),
  was:
    row.amount_micros === null
      ? null
      : { amount: formatMicros(row.amount_micros), per_quantity: Number(row.per_quantity) },
});
