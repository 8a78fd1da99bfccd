import fc from 'fast-check';
import {
  type BalanceUnit,
  type JsonObject,
  type Micros,
  type OpenedUnit,
  type TextUsage,
  TOKEN_UNITS,
} from '#contracts';
import type { RateCounter } from '#platform';
import { TextCosts } from '#providers';
import { createTestDatabase, type TestDatabase } from '#testing';
import { RateLimits } from '../../limits/rate-limits.js';
import { LedgerTextBilling } from '../../text/ledger-text-billing.js';
import { ReconciliationService } from '../ledger/reconciliation.service.js';
import { RequestLedger } from '../ledger/request-ledger.js';
import { ReservationLedger } from '../ledger/reservation-ledger.js';
import { Reservations } from '../ledger/reservations.js';
import { storedVariant } from '../prices/bands.js';
import { PriceBook } from '../prices/price-book.js';
import { TextPrices } from '../prices/text-prices.js';
import { MarginsService } from './margins.service.js';
import { UsageService } from './usage.service.js';

const UNCOUNTED: RateCounter = {
  add: () => Promise.resolve({ points: 1, resetsInMs: 1_000 }),
  close: () => undefined,
};
const OPENS: readonly OpenedUnit[] = ['cache_write_long_token', 'audio_input_token', 'audio_output_token'];
const TIERS = ['default', 'flex', 'priority'] as const;

/** So many micros for a million of each unit, in each tier and band. */
interface Book {
  readonly units: readonly string[];
  readonly tiers: readonly string[];
  readonly bands: readonly number[];
  readonly amounts: readonly bigint[];
}

interface Rule {
  readonly ofModel: boolean;
  readonly unit: string | null;
  readonly variant: string | null;
  readonly factorMillionths: bigint | null;
  readonly amountMicros: bigint | null;
}

interface Asked {
  readonly tier: (typeof TIERS)[number];
  readonly held: number;
  readonly output: number;
  /** What its vendor reports of it, in parts of what was held for: up to one and a half of it. */
  readonly parts: readonly number[];
  readonly served: (typeof TIERS)[number] | 'other' | undefined;
  readonly status: 'completed' | 'failed' | 'aborted';
  readonly isCosted: boolean;
}

const amounts = fc.array(fc.bigInt(0n, 90_000_000n), { minLength: 5, maxLength: 9 });
const books = fc.record<Book>({
  units: fc.subarray(TOKEN_UNITS.filter((unit) => unit !== 'input_token' && unit !== 'output_token')),
  tiers: fc.subarray(['flex', 'priority']),
  bands: fc.uniqueArray(fc.integer({ min: 1, max: 4_000 }), { maxLength: 3 }),
  amounts,
});
const rules = fc.uniqueArray(
  fc.oneof(
    fc.record<Rule>({
      ofModel: fc.boolean(),
      unit: fc.option(fc.constantFrom('input_token', 'cached_input_token', 'output_token')),
      variant: fc.option(fc.constantFrom(...TIERS)),
      factorMillionths: fc.bigInt(0n, 2_000_000n),
      amountMicros: fc.constant(null),
    }),
    fc.record<Rule>({
      ofModel: fc.constant(true),
      unit: fc.constantFrom('input_token', 'cached_input_token', 'output_token'),
      variant: fc.constant('default'),
      factorMillionths: fc.constant(null),
      amountMicros: fc.bigInt(0n, 90_000_000n),
    }),
  ),
  { maxLength: 5, selector: ({ ofModel, unit, variant }) => [ofModel, unit, variant].join('|') },
);
const asked = fc.record<Asked>({
  tier: fc.constantFrom(...TIERS),
  held: fc.integer({ min: 0, max: 5_000 }),
  output: fc.integer({ min: 1, max: 2_000 }),
  parts: fc.array(fc.double({ min: 0, max: 1.5, noNaN: true }), { minLength: 9, maxLength: 9 }),
  served: fc.constantFrom(undefined, 'other', ...TIERS),
  status: fc.constantFrom('completed', 'completed', 'aborted', 'failed'),
  isCosted: fc.boolean(),
});
const histories = fc.record({
  book: books,
  changed: books,
  rules,
  changedRules: rules,
  balance: fc.oneof(fc.bigInt(0n, 200_000n), fc.constant(10n ** 12n)),
  requests: fc.array(asked, { minLength: 2, maxLength: 5 }),
  currency: fc.constantFrom<[BalanceUnit, string, number | undefined]>(
    ['USD', 'USD', undefined],
    ['USD', 'CNY', 0.14],
    ['CNY', 'USD', 7.1],
    ['USD', 'credits', undefined],
  ),
});

/** At most what was held for where every part is at most 1. */
function usageOf({ held, output, parts, served }: Asked): TextUsage {
  const [whole = 0, cached = 0, written = 0, image = 0, long = 0, sound = 0, wrote = 0, thought = 0, spoke = 0] = parts;
  const of = (count: number, part: number): number => Math.floor(count * part);
  const inputTokens = of(held, whole);
  const outputTokens = of(output, wrote);
  return {
    inputTokens,
    cachedInputTokens: of(inputTokens, cached),
    cacheWriteTokens: of(inputTokens, written),
    imageInputTokens: of(inputTokens, image),
    outputTokens,
    reasoningTokens: of(outputTokens, thought),
    units: {
      cache_write_long_token: of(inputTokens, long),
      audio_input_token: of(inputTokens, sound),
      audio_output_token: of(outputTokens, spoke),
    },
    source: 'upstream',
    ...(served && { tier: served }),
  };
}

const sum = (amountsOf: readonly Micros[]): Micros => amountsOf.reduce((all, each) => all + each, 0n);
const today = (): string => new Date().toISOString().slice(0, 10);

interface Line {
  readonly quantity: number;
  readonly price_micros: string;
  readonly per_quantity: string;
  readonly amount_micros: string;
}

describe('Whatever the prices, lists, bands, currencies and moments of change', () => {
  let test: TestDatabase;
  let number = 0;
  beforeAll(async () => {
    test = await createTestDatabase();
    // How much is held must not depend on how fast a test asks.
    await run('alter table request_hold add constraint each_request_its_own check (not is_reservation)');
  });
  afterAll(() => test.remove());

  const run = async <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
    (await test.database.query<Row>({ text, values })).rows;

  /** One that reads the prices anew, and so takes every price into account that is in force by now. */
  const billing = (): LedgerTextBilling =>
    new LedgerTextBilling(
      new RequestLedger(test.database),
      new Reservations(new ReservationLedger(test.database), { idleMs: 60_000, renewalMs: 60_000 }),
      new TextPrices(new PriceBook(test.database)),
      new RateLimits(UNCOUNTED, 'allow', 60),
    );

  async function price(model: string, { units, tiers, bands, amounts: each }: Book): Promise<void> {
    const rows = ['default', ...tiers].flatMap((tier) =>
      [0, ...bands].flatMap((from) =>
        ['input_token', 'output_token', ...units].map((unit) => ({ unit, variant: storedVariant(tier, from), from })),
      ),
    );
    const priced = rows.map((row, at) => ({ ...row, id: `price_${++number}`, amount: String(each[at % each.length]) }));
    await run(
      `insert into price (id, model, unit, variant, from_input_tokens, amount_micros, per_quantity, effective_from, created_by)
      select id, $1, unit, variant, "from", amount, 1000000, clock_timestamp(), 'test'
      from jsonb_to_recordset($2::jsonb) as r(id text, unit text, variant text, "from" bigint, amount bigint)`,
      model,
      JSON.stringify(priced),
    );
  }

  async function rule(list: string, model: string, said: readonly Rule[]): Promise<void> {
    for (const { ofModel, unit, variant, factorMillionths, amountMicros } of said)
      await run(
        `insert into price_list_rule (id, list_id, model, unit, variant, factor_millionths, amount_micros, per_quantity,
        effective_from, created_by) values ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp(), 'test')`,
        `rule_${++number}`,
        list,
        ofModel ? model : '*',
        unit,
        variant,
        factorMillionths,
        amountMicros,
        amountMicros === null ? null : 1_000_000n,
      );
  }

  async function customer(balance: bigint): Promise<string> {
    const id = `acct_${++number}`;
    await run('insert into account (id, name, available_micros) values ($1, $1, $2)', id, balance);
    if (balance > 0n)
      await run(
        `insert into ledger_entry (account_id, kind, debit, credit, amount_micros) values ($1, 'top_up', 'funding', 'available', $2)`,
        id,
        balance,
      );
    await run(
      `insert into api_key (id, account_id, name, prefix, key_hash) values ('key_' || $1, $1, 'k', 'sk', $2)`,
      id,
      Buffer.from(id),
    );
    return id;
  }

  const orderOf = (accountId: string, model: string, list: string, { tier, held, output }: Asked) => ({
    requestId: `req_${++number}`,
    accountId,
    apiKeyId: `key_${accountId}`,
    priceList: list,
    model,
    inputTokens: held,
    outputTokens: output,
    opens: OPENS,
    ...(tier !== 'default' && { tier }),
  });

  const FIGURES = { input_token: 3, cached_input_token: 0.3, output_token: 15 };

  it('a hold covers its charge or the debt is explained, lines and reports add up, and a margin is price less cost', async () => {
    const property = fc.asyncProperty(histories, async (history) => {
      const [model, list] = [`model_${++number}`, `list_${number}`];
      const [balanceUnit, unit, rate] = history.currency;
      const upstreamCosts: JsonObject = { unit, per_quantity: 1_000_000, [model]: FIGURES };
      const costs = new TextCosts(
        { costs: { ...upstreamCosts, ...(rate && { rates: { [unit]: rate } }) } },
        balanceUnit,
      );
      const accountId = await customer(history.balance);
      await run(`insert into price_list (id, name, created_by) values ($1, $1, 'test')`, list);
      await price(model, history.book);
      await rule(list, model, history.rules);
      const before = billing();
      const holds = [];
      for (const [at, each] of history.requests.entries()) {
        if (at === 1) {
          await price(model, history.changed);
          await rule(list, model, history.changedRules);
        }
        const by = at === 0 ? before : billing();
        const order = orderOf(accountId, model, list, each);
        const hold = await by.hold(order).catch((error: { status?: number }) => error.status);
        expect(typeof hold === 'object' || hold).toBe(typeof hold === 'object' || 402);
        if (typeof hold === 'object') holds.push({ hold, order, asked: each });
      }
      for (const { hold, order, asked: each } of holds) {
        const usage = usageOf(each);
        const isWithin =
          usage.inputTokens <= each.held &&
          usage.outputTokens <= hold.outputTokens &&
          [each.tier, 'default', undefined].includes(each.served);
        const cost = each.isCosted ? costs.of(model)?.of({ ...usage, units: {} }, Date.now()) : undefined;
        await before.settle(hold, {
          status: each.status,
          usage: each.status === 'failed' ? undefined : usage,
          upstream: 'vendor',
          upstreamRequestId: undefined,
          durationMs: 1,
          cost,
        });
        const [record] = await run<{ amount: bigint; owed: bigint; lines: readonly Line[] }>(
          'select amount_micros as amount, owed_micros as owed, lines from usage_record where request_id = $1',
          order.requestId,
        );
        const { amount, owed, lines } = record!;
        expect(sum(lines.map((line) => BigInt(line.amount_micros)))).toBe(amount);
        for (const line of lines) {
          const exact = BigInt(line.quantity) * BigInt(line.price_micros);
          const per = BigInt(line.per_quantity);
          expect((2n * exact + per) / (2n * per)).toBe(BigInt(line.amount_micros));
        }
        expect(!isWithin || amount <= hold.heldMicros + BigInt(lines.length)).toBe(true);
        const moved = await run<{ kind: string; amount: bigint }>(
          `select kind, amount_micros as amount from ledger_entry where request_id = $1 and account_id = $2`,
          order.requestId,
          accountId,
        );
        const of = (kind: string): Micros =>
          sum(moved.filter((entry) => entry.kind === kind).map((entry) => entry.amount));
        expect(of('hold')).toBe(hold.heldMicros);
        expect(of('capture') + of('overrun') + of('debt')).toBe(amount);
        expect(of('debt') - of('debt_payment')).toBe(owed);
        expect(of('hold') - of('capture')).toBe(of('release'));
        expect(owed === 0n || amount > hold.heldMicros).toBe(true);
      }
      await expectReports(accountId, model);
    });
    await fc.assert(property, { numRuns: 20, seed: 41, includeErrorInReport: true });
    const report = await new ReconciliationService(test.database).run({ full: true });
    expect(report?.findings).toEqual([]);
  });

  /** Sums of the days and margins against the records that they are of. */
  async function expectReports(accountId: string, model: string): Promise<void> {
    const records = await run<{ amount: bigint; worth: bigint | null; input: bigint; status: string }>(
      `select amount_micros as amount, cost_worth_micros as worth, input_tokens as input, status from usage_record where model = $1`,
      model,
    );
    const earned = sum(records.map(({ amount }) => amount));
    const sums = await new UsageService(test.database).sums({ accountId, from: today(), to: today() }, [
      'model',
      'key',
    ]);
    const margins = await new MarginsService(test.database).margins({ from: today(), to: today() }, [
      'model',
      'account',
      'band',
    ]);
    const ofModel = margins.filter((row) => row.model === model);
    expect([
      sum(sums.map((row) => row.requests)),
      sum(sums.map((row) => row.failed_requests)),
      sum(sums.map((row) => row.amount_micros)),
      sum(sums.map((row) => row.input_tokens)),
    ]).toEqual([
      BigInt(records.length),
      BigInt(records.filter(({ status }) => status !== 'completed').length),
      earned,
      sum(records.map(({ input }) => input)),
    ]);
    expect(sum(ofModel.map((row) => row.earned_micros))).toBe(earned);
    expect(sum(ofModel.map((row) => row.cost_micros))).toBe(sum(records.map(({ worth }) => worth ?? 0n)));
    for (const row of ofModel) {
      const known = row.tasks_without_cost === 0n ? row.earned_micros - row.cost_micros : null;
      expect(row.margin_micros).toBe(known);
    }
  }
});
