import { Injectable } from '@nestjs/common';
import { formatMicros } from '#contracts';
import { Database, type StatementRunner, timeOrderedId } from '#platform';
import type { DatedPrice } from './check-prices.js';
import { AuditedChanges, type Operator } from '../../audit/audit.js';

/** A price of a list against the one of the same model, unit, variant and moment in the book. */
export interface PriceDifference {
  readonly model: string;
  readonly unit: string;
  readonly variant: string;
  readonly effective_from: string;
  readonly amount: string;
  readonly per_quantity: number;
  /** What the book says; null: nothing yet. */
  readonly was: { readonly amount: string; readonly per_quantity: number } | null;
}

/** What an import does, or would do. */
export interface ImportedPrices {
  readonly added: readonly PriceDifference[];
  /** Prices that are not yet in force, and so may still be corrected. */
  readonly changed: readonly PriceDifference[];
  readonly unchanged: number;
  /** Prices that have been in force at another amount. With one of them, nothing is imported. */
  readonly conflicts: readonly PriceDifference[];
}

interface ComparedRow {
  readonly position: number;
  readonly id: string | null;
  readonly amount_micros: bigint | null;
  readonly per_quantity: bigint | null;
  readonly is_future: boolean | null;
}

const SENT = `jsonb_to_recordset($1::jsonb) as s(position integer, id text, model text, unit text, variant text,
  amount_micros bigint, per_quantity bigint, effective_from timestamptz)`;
const COMPARE = `
select s.position, p.id, p.amount_micros, p.per_quantity, p.effective_from > now() as is_future
from ${SENT} left join price p using (model, unit, variant, effective_from) order by s.position`;
/** Another replica that starts with the same file may have been quicker. */
const WRITE = `
insert into price (id, model, unit, variant, amount_micros, per_quantity, effective_from, created_by)
select s.id, s.model, s.unit, s.variant, s.amount_micros, s.per_quantity, s.effective_from, $2 from ${SENT}
on conflict (model, unit, variant, effective_from) do update
set amount_micros = excluded.amount_micros, per_quantity = excluded.per_quantity, created_by = excluded.created_by
where price.effective_from > now()`;

/** Puts lists of dated prices into the book: all of a list or nothing. Safe to repeat. */
@Injectable()
export class PriceImport {
  constructor(
    private readonly database: Database,
    private readonly changes: AuditedChanges,
  ) {}

  /** What an import would do. */
  async compare(prices: readonly DatedPrice[]): Promise<ImportedPrices> {
    return compareOn(this.database, prices);
  }

  /** Imports the list, unless it holds a conflict. */
  run(operator: Operator, prices: readonly DatedPrice[]): Promise<ImportedPrices> {
    return this.changes.runStatements(operator, async (transaction) => {
      const result = await compareOn(transaction, prices);
      const { added, changed, conflicts } = result;
      if (conflicts.length > 0 || added.length + changed.length === 0) return { result, change: null };
      for (const part of partsOf(prices))
        await transaction.query({ text: WRITE, values: [JSON.stringify(part.map(toSent)), operator.actor] });
      return {
        result,
        change: {
          action: 'prices.imported',
          subjectType: 'price',
          subjectId: 'import',
          before: null,
          after: audited(result),
        },
      };
    });
  }
}

/** So many prices go in one statement: more would keep other work waiting. */
const AT_ONCE = 500;

function* partsOf(prices: readonly DatedPrice[]): Generator<readonly DatedPrice[]> {
  for (let from = 0; from < prices.length; from += AT_ONCE) yield prices.slice(from, from + AT_ONCE);
}

/** The most differences of a kind that the audit lists; the book itself has all of them, with who imported them. */
const AUDITED_MAX = 1_000;

function audited({ added, changed }: ImportedPrices): object {
  const listed = { added: added.slice(0, AUDITED_MAX), changed: changed.slice(0, AUDITED_MAX) };
  const unlisted = added.length + changed.length - listed.added.length - listed.changed.length;
  return unlisted === 0 ? listed : { ...listed, unlisted };
}

async function compareOn(
  runner: Pick<StatementRunner, 'query'>,
  prices: readonly DatedPrice[],
): Promise<ImportedPrices> {
  const found = { added: [], changed: [], unchanged: [], conflict: [] } as Record<Compared, PriceDifference[]>;
  for (const part of partsOf(prices)) {
    const { rows } = await runner.query<ComparedRow>({ text: COMPARE, values: [JSON.stringify(part.map(toSent))] });
    for (const row of rows) {
      const price = part[row.position];
      if (price) found[kindOf(row, price)].push(toDifference(row, price));
    }
  }
  const { added, changed, unchanged, conflict: conflicts } = found;
  return { added, changed, unchanged: unchanged.length, conflicts };
}

type Compared = 'added' | 'changed' | 'unchanged' | 'conflict';

function kindOf(row: ComparedRow, price: DatedPrice): Compared {
  if (row.id === null) return 'added';
  if (row.amount_micros === price.amountMicros && row.per_quantity === price.perQuantity) return 'unchanged';
  return row.is_future ? 'changed' : 'conflict';
}

const toSent = (price: DatedPrice, position: number): object => ({
  position,
  id: timeOrderedId('price'),
  model: price.model,
  unit: price.unit,
  variant: price.variant,
  amount_micros: price.amountMicros.toString(),
  per_quantity: price.perQuantity.toString(),
  effective_from: price.effectiveFrom.toISOString(),
});

const toDifference = (row: ComparedRow, price: DatedPrice): PriceDifference => ({
  model: price.model,
  unit: price.unit,
  variant: price.variant,
  effective_from: price.effectiveFrom.toISOString(),
  amount: formatMicros(price.amountMicros),
  per_quantity: Number(price.perQuantity),
  was:
    row.amount_micros === null
      ? null
      : { amount: formatMicros(row.amount_micros), per_quantity: Number(row.per_quantity) },
});
