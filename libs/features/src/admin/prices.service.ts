import { GatewayError, type Micros } from '#contracts';
import { Database, timeOrderedId } from '#platform';
import { brokeConstraint } from '../ledger/payment-refusals.js';
import type { AuditedChanges, Operator } from './audit.js';

/** A price as operators see it: `amount_micros` for each `per_quantity` of `unit`. */
export interface PriceListRow {
  readonly id: string;
  readonly model: string;
  readonly unit: string;
  readonly variant: string;
  readonly amount_micros: bigint;
  readonly per_quantity: bigint;
  readonly effective_from: Date;
  readonly created_by: string;
}

/** A price to come into force. */
export interface NewPrice {
  readonly model: string;
  readonly unit: string;
  readonly variant: string;
  readonly amountMicros: Micros;
  readonly perQuantity: bigint;
  /** Null: now. */
  readonly effectiveFrom: Date | null;
}

/** How far behind a date may lie and still count as now, in milliseconds. */
const CLOCK_SLACK_MS = 60_000;
const COLUMNS = 'id, model, unit, variant, amount_micros, per_quantity, effective_from, created_by';
const ADD = `
insert into price (id, model, unit, variant, amount_micros, per_quantity, effective_from, created_by)
values ($1, $2, $3, $4, $5, $6, coalesce($7, now()), $8) returning ${COLUMNS}`;
const IN_FORCE = `
select distinct on (model, unit, variant) ${COLUMNS} from price
where effective_from <= $2 and ($1::text is null or model = $1) order by model, unit, variant, effective_from desc`;
const HISTORY = `
select ${COLUMNS} from price where $1::text is null or model = $1
order by model, unit, variant, effective_from desc limit 10000`;

/** The price book, for operators. Prices are never changed: a later one follows them. */
export class PricesService {
  constructor(
    private readonly database: Database,
    private readonly changes: AuditedChanges,
  ) {}

  /** The prices in force at a moment, of one model or all. */
  async inForce(model: string | null, at: Date): Promise<PriceListRow[]> {
    return (await this.database.query<PriceListRow>({ text: IN_FORCE, values: [model, at] })).rows;
  }

  /** Every price there was and will be. */
  async history(model: string | null): Promise<PriceListRow[]> {
    return (await this.database.query<PriceListRow>({ text: HISTORY, values: [model] })).rows;
  }

  /**
   * @throws GatewayError `invalid_parameter`: the date has passed, or seconds and pictures would cost fractions of a
   * micro; `conflict`: another price begins at the same moment.
   */
  async add(operator: Operator, price: NewPrice): Promise<PriceListRow> {
    expectPrice(price);
    const { model, unit, variant, amountMicros, perQuantity, effectiveFrom } = price;
    const id = timeOrderedId('price');
    const values = [id, model, unit, variant, amountMicros, perQuantity, effectiveFrom, operator.actor];
    try {
      return await this.changes.run(operator, async (transaction) => {
        const [row] = (await transaction.query<PriceListRow>({ text: ADD, values })).rows;
        if (!row) throw new Error('the price was not written');
        return {
          result: row,
          change: { action: 'price.added', subjectType: 'price', subjectId: id, before: null, after: row },
        };
      });
    } catch (error) {
      if (!brokeConstraint(error, 'price_starts_once')) throw error;
      throw new GatewayError('conflict', 'Another price of this model, unit and variant begins at that moment.', {
        param: 'effective_from',
        cause: error,
      });
    }
  }
}

function expectPrice({ unit, amountMicros, perQuantity, effectiveFrom }: NewPrice): void {
  if (effectiveFrom && effectiveFrom.getTime() < Date.now() - CLOCK_SLACK_MS) {
    throw new GatewayError('invalid_parameter', 'effective_from must not lie in the past: what was charged stays.', {
      param: 'effective_from',
    });
  }
  if (!unit.endsWith('token') && amountMicros % perQuantity !== 0n) {
    throw new GatewayError('invalid_parameter', `amount for one ${unit} must be a whole number of millionths.`, {
      param: 'amount',
    });
  }
}
