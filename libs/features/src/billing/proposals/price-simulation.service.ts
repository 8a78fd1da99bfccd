import { Injectable } from '@nestjs/common';
import { GatewayError, type Micros } from '#contracts';
import { Database, nextTurn, Turns } from '#platform';
import type { DatedPrice } from '../prices/check-prices.js';
import { missingInBands } from '../prices/bands.js';
import { PriceBook, type PricesInForce } from '../prices/price-book.js';
import { missingText } from '../prices/price-import.js';
import { PriceListsService } from '../prices/price-lists.service.js';
import { grouped } from '../prices/price-rules.js';
import { type ChargedLine, RepricedUsage } from './repriced-usage.js';

/** What usage is charged at instead. */
export interface Simulated {
  /** Days of UTC, both included. */
  readonly from: string;
  readonly to: string;
  /** Prices in place of those of the book. */
  readonly prices: readonly Omit<DatedPrice, 'effectiveFrom'>[];
  /** A price list for everyone; undefined: each account has its own. */
  readonly list: string | undefined;
}

type Simulation = ReturnType<Sums['end']>;

const PAGE_ROWS = 2_000;
const RECORDS_MAX = 1_000_000;
const SHOWN_MAX = 1_000;

interface RecordRow {
  readonly at: string;
  readonly id: string;
  readonly account_id: string;
  readonly model: string;
  readonly status: string;
  readonly lines: readonly (ChargedLine & { readonly price_list?: string })[];
  readonly amount_micros: Micros;
  readonly cost_worth_micros: Micros | null;
  readonly has_cost: boolean;
}

/** One page of the records of some days, so that no connection is held for long. $1, $2 the last of the page before. */
const PAGE = `
select created_at::text as at, id, account_id, model, status, lines, amount_micros, cost_worth_micros,
  upstream is not null and status <> 'refunded' and (status = 'completed' or amount_micros > 0) as has_cost
from usage_record
where (created_at, id) > ($1::timestamptz, $2) and created_at < ($3::date + 1)::timestamp at time zone 'utc'
order by created_at, id limit ${PAGE_ROWS}`;

const ASSIGNED = `
select account_id, list_id, effective_from from account_price_list order by account_id, effective_from desc limit 100000`;

/** @throws GatewayError `invalid_parameter`: a band lacks prices, so that nobody would be charged by it. */
function expectWholeBands(book: PricesInForce, prices: Simulated['prices']): void {
  const now = new Date();
  const missing = [...new Set(prices.map(({ model }) => model))].flatMap((model) =>
    missingInBands(
      book.ofModel(model).map((price) => ({ ...price, model, effectiveFrom: now })),
      now,
    ),
  );
  if (missing.length > 0) throw new GatewayError('invalid_parameter', `${missingText(missing)}.`, { param: 'prices' });
}

interface Assigned {
  readonly account_id: string;
  readonly list_id: string | null;
  readonly effective_from: Date;
}

/** Charges the usage of past days again at other prices. Nothing of it is kept. */
@Injectable()
export class PriceSimulation {
  private isRunning = false;

  constructor(
    private readonly database: Database,
    private readonly book: PriceBook,
    private readonly lists: PriceListsService,
  ) {}

  /**
   * @throws GatewayError `not_found`: there is no such list; `invalid_parameter`: the days hold too many records; `conflict`: this process
   * simulates already.
   */
  async run(asked: Simulated, signal: AbortSignal): Promise<Simulation> {
    if (asked.list !== undefined) await this.lists.one(asked.list);
    if (this.isRunning) throw new GatewayError('conflict', 'Another simulation is running: try again when it is done.');
    this.isRunning = true;
    try {
      return await this.reprice(asked, signal);
    } finally {
      this.isRunning = false;
    }
  }

  private async reprice({ from, to, prices, list }: Simulated, signal: AbortSignal): Promise<Simulation> {
    const simulated = (await this.book.reread()).with(prices);
    expectWholeBands(simulated, prices);
    const usage = new RepricedUsage(simulated);
    const { rows } = await this.database.query<Assigned>({ text: ASSIGNED });
    const assigned = grouped(rows, (row) => row.account_id);
    const sums = new Sums();
    const turns = new Turns();
    let last = { at: `${from}T00:00:00Z`, id: '' };
    for (let read = 0; ; read += PAGE_ROWS) {
      signal.throwIfAborted();
      if (read >= RECORDS_MAX) throw tooMany();
      const query = { text: PAGE, values: [last.at, last.id, to], limit: 'long' } as const;
      const page = await this.database.ofOperators().query<RecordRow>(query);
      for (const record of page.rows) {
        if (turns.isOver) await nextTurn(turns);
        const isCharge = record.status !== 'refunded' && record.amount_micros >= 0n;
        const ofAccount = list ?? listAt(assigned.get(record.account_id) ?? [], record.at);
        sums.add(record, isCharge ? usage.of(record.model, record.lines, ofAccount) : undefined);
        last = record;
      }
      if (page.rows.length < PAGE_ROWS) return sums.end();
      await nextTurn(turns);
    }
  }
}

const tooMany = (): GatewayError =>
  new GatewayError('invalid_parameter', `These days hold more than ${RECORDS_MAX} records: simulate fewer days.`, {
    param: 'from',
  });

/** The list that an account had; the newest first. */
function listAt(assigned: readonly Assigned[], at: string): string | undefined {
  if (assigned.length === 0) return undefined;
  const ms = Date.parse(at);
  return assigned.find(({ effective_from: from }) => from.getTime() <= ms)?.list_id ?? undefined;
}

class Sum {
  private records = 0;
  private before = 0n;
  private after = 0n;
  private cost = 0n;
  private withoutCost = 0;

  add({ amount_micros: charged, cost_worth_micros: cost, has_cost: hasCost }: RecordRow, repriced: Micros): void {
    this.records += 1;
    this.before += charged;
    this.after += repriced;
    this.cost += cost ?? 0n;
    if (hasCost && cost === null) this.withoutCost += 1;
  }

  get change(): Micros {
    return this.after > this.before ? this.after - this.before : this.before - this.after;
  }

  /** Margins are null while a cost is unknown. */
  get view() {
    const isKnown = this.withoutCost === 0;
    return {
      records: this.records,
      earned_before_micros: this.before,
      earned_after_micros: this.after,
      cost_micros: this.cost,
      records_without_cost: this.withoutCost,
      margin_before_micros: isKnown ? this.before - this.cost : null,
      margin_after_micros: isKnown ? this.after - this.cost : null,
    };
  }
}

class Sums {
  private readonly total = new Sum();
  private readonly models = new Map<string, Sum>();
  private readonly accounts = new Map<string, Sum>();
  private unpriced = 0;

  add(record: RecordRow, repriced: Micros | undefined): void {
    if (repriced === undefined && record.amount_micros !== 0n) this.unpriced += 1;
    const after = repriced ?? record.amount_micros;
    this.total.add(record, after);
    sumIn(this.models, record.model).add(record, after);
    sumIn(this.accounts, record.account_id).add(record, after);
  }

  /** Records without a price count as they were charged. Of models and accounts those that change most. */
  end() {
    return {
      total: this.total.view,
      unpriced_records: this.unpriced,
      models: shown(this.models).map(([model, sum]) => ({ model, ...sum.view })),
      accounts: shown(this.accounts).map(([account_id, sum]) => ({ account_id, ...sum.view })),
    };
  }
}

function sumIn(sums: Map<string, Sum>, key: string): Sum {
  const sum = sums.get(key) ?? new Sum();
  sums.set(key, sum);
  return sum;
}

const shown = (sums: ReadonlyMap<string, Sum>): (readonly [string, Sum])[] =>
  [...sums].toSorted(([, one], [, other]) => Number(other.change - one.change)).slice(0, SHOWN_MAX);
