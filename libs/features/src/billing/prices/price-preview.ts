import { Injectable } from '@nestjs/common';
import { Database } from '#platform';
import type { ShownRow } from '../../paging/page.js';
import { type NewPrice, PricesService } from './prices.service.js';

const DAYS = 30;
const ACCOUNTS_SHOWN = 20;
const DAY_MS = 86_400_000;

/** What an account paid for what a price is about, and what it would have paid. */
interface RepricedAccount extends ShownRow {
  readonly charged_micros: bigint;
  readonly repriced_micros: bigint;
}

/**
 * Out of the lines that were charged, so that only what this price is about counts. It reads every record of these days:
 * only an operator waits for it. $1 model, $2 unit, $3 variant, $4 first day, $7 the input from which the price holds, up to the
 * next band.
 */
const CHARGED = `
select u.account_id, a.name as account_name, sum((line ->> 'amount_micros')::numeric)::bigint as charged_micros,
  floor(sum((line ->> 'quantity')::numeric) * $5::numeric / $6::numeric)::bigint as repriced_micros
from usage_record u join account a on a.id = u.account_id cross join lateral jsonb_array_elements(u.lines) line
where u.model = $1 and u.created_at >= $4::date and line ->> 'unit' = $2 and line ->> 'variant' = $3
  and u.input_tokens >= $7 and u.input_tokens < coalesce((select min(p.from_input_tokens) from price p
    where p.model = $1 and p.from_input_tokens > $7
      and p.withdrawn_at is null), 9223372036854775807)
group by u.account_id, a.name`;

/** Tells what a price would have changed in the last 30 days, and most for whom, before it is set. */
@Injectable()
export class PricePreview {
  constructor(
    private readonly database: Database,
    private readonly prices: PricesService,
  ) {}

  async of({ model, unit, variant, fromInputTokens, amountMicros, perQuantity }: NewPrice) {
    const now = Date.now();
    const from = new Date(now - (DAYS - 1) * DAY_MS).toISOString().slice(0, 10);
    const values = [model, unit, variant, from, amountMicros, perQuantity, fromInputTokens];
    const { rows } = await this.database.query<RepricedAccount>({ text: CHARGED, values, limit: 'long' });
    const inForce = await this.prices.inForce(model, new Date(now));
    const change = ({ charged_micros, repriced_micros }: RepricedAccount): bigint => {
      const difference = repriced_micros - charged_micros;
      return difference < 0n ? -difference : difference;
    };
    return {
      from,
      to: new Date(now).toISOString().slice(0, 10),
      charged_micros: rows.reduce((sum, row) => sum + row.charged_micros, 0n),
      repriced_micros: rows.reduce((sum, row) => sum + row.repriced_micros, 0n),
      accounts: rows.toSorted((one, other) => Number(change(other) - change(one))).slice(0, ACCOUNTS_SHOWN),
      current:
        inForce.find(
          (price) =>
            price.unit === unit && price.variant === variant && Number(price.fromInputTokens) === fromInputTokens,
        ) ?? null,
    };
  }
}
