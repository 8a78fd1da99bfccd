import { Injectable } from '@nestjs/common';
import { GatewayError, wireNames } from '#contracts';
import { brokeConstraint, Database, type ModelTransaction, type Price, timeOrderedId } from '#platform';
import { AuditedChanges, changeOf, type Operator } from '../../audit/audit.js';
import { shownVariant, storedVariant, VARIANT } from './bands.js';
import type { DatedPrice } from './check-prices.js';
import { missingText, missingWith } from './price-import.js';

/** The columns of a price that are not shown. */
const HIDDEN = { createdAt: true } as const;

/** A price as operators see it: `amountMicros` for each `perQuantity` of `unit`. */
export type PriceView = Omit<Price, keyof typeof HIDDEN>;

export interface NewPrice extends Omit<DatedPrice, 'effectiveFrom'> {
  /** Null: now. */
  readonly effectiveFrom: Date | null;
}

/** How far behind a date may lie and still count as now, in milliseconds. */
const CLOCK_SLACK_MS = 60_000;
const HISTORY_MAX = 10_000;
/** The newest of each sort that has begun, which the models could only find by reading all. */
const IN_FORCE = `
select distinct on (p.model, p.unit, p.variant) id, model, unit, ${VARIANT}, from_input_tokens as "fromInputTokens",
  amount_micros as "amountMicros", per_quantity as "perQuantity", effective_from as "effectiveFrom", created_by as "createdBy",
  proposal_id as "proposalId", withdrawn_at as "withdrawnAt"
from price p where effective_from <= $2 and (withdrawn_at is null or withdrawn_at > $2) and ($1::text is null or model = $1)
order by p.model, p.unit, p.variant, effective_from desc`;

/** The price book, for operators. Prices are never changed: a later one follows them. */
@Injectable()
export class PricesService {
  constructor(
    private readonly database: Database,
    private readonly changes: AuditedChanges,
  ) {}

  async inForce(model: string | null, at: Date): Promise<PriceView[]> {
    return (await this.database.query<PriceView>({ text: IN_FORCE, values: [model, at] })).rows;
  }

  async history(model: string | null): Promise<PriceView[]> {
    const { price } = await this.database.models();
    const rows = await price.findMany({
      ...(model !== null && { where: { model } }),
      orderBy: [{ model: 'asc' }, { unit: 'asc' }, { variant: 'asc' }, { effectiveFrom: 'desc' }],
      take: HISTORY_MAX,
      omit: HIDDEN,
    });
    return rows.map(shown);
  }

  async named(ids: readonly string[]): Promise<PriceView[]> {
    const { price } = await this.database.models();
    if (ids.length === 0) return [];
    return (await price.findMany({ where: { id: { in: [...ids] } }, omit: HIDDEN })).map(shown);
  }

  /**
   * @throws GatewayError `invalid_parameter`: the date has passed, or seconds and images would cost fractions of a
   * micro; `conflict`: another price begins at the same moment.
   */
  async add(operator: Operator, price: NewPrice): Promise<PriceView> {
    expectPrice(price);
    const id = timeOrderedId('price');
    try {
      return await this.changes.run(operator, async (transaction) => {
        const effectiveFrom = price.effectiveFrom ?? (await timeOfDatabase(transaction));
        const missing = await missingWith(this.database, [{ ...price, effectiveFrom }]);
        if (missing.length > 0)
          throw new GatewayError('invalid_parameter', `${missingText(missing)}; import them together.`, {
            param: 'from_input_tokens',
          });
        const variant = storedVariant(price.variant, price.fromInputTokens);
        const data = { id, ...price, variant, effectiveFrom, createdBy: operator.actor };
        const row = shown(await transaction.price.create({ data, omit: HIDDEN }));
        return { result: row, change: changeOf('price', 'price.added', id, null, wireNames(row)) };
      });
    } catch (error) {
      if (!brokeConstraint(error, 'price_starts_once')) throw error;
      throw new GatewayError('conflict', 'Another price of this model, unit, variant and band begins at that moment.', {
        param: 'effective_from',
        cause: error,
      });
    }
  }
}

/** The band of a row is its column; the variant names it for older processes alone. */
const shown = (row: PriceView): PriceView => ({ ...row, variant: shownVariant(row.variant) });

/** Whether a price has begun is judged by the clock of the database. */
async function timeOfDatabase(transaction: ModelTransaction): Promise<Date> {
  const [row] = await transaction.$queryRaw<{ now: Date }[]>`select now() as now`;
  if (!row) throw new Error('the database did not return its time');
  return row.now;
}

function expectPrice({ unit, amountMicros, perQuantity, effectiveFrom }: NewPrice): void {
  if (effectiveFrom && effectiveFrom.getTime() < Date.now() - CLOCK_SLACK_MS) {
    throw GatewayError.ofField('effective_from', 'must not be in the past: past charges do not change');
  }
  if (!unit.endsWith('token') && amountMicros % perQuantity !== 0n) {
    throw GatewayError.ofField('amount', `for one ${unit} must be a whole number of millionths`);
  }
}
