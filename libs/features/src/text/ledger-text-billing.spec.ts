import type { TextUsage } from '#contracts';
import type { RateCounter } from '#platform';
import { createTestDatabase, eventually, type TestDatabase } from '#testing';
import { ReconciliationService } from '../billing/ledger/reconciliation.service.js';
import { RequestLedger } from '../billing/ledger/request-ledger.js';
import { ReservationLedger } from '../billing/ledger/reservation-ledger.js';
import { Reservations } from '../billing/ledger/reservations.js';
import { MOST_HELD_MICROS, PriceBook } from '../billing/prices/price-book.js';
import { seedExamplePrices } from '../billing/prices/seed-prices.js';
import { TextPrices } from '../billing/prices/text-prices.js';
import { RateLimits } from '../limits/rate-limits.js';
import { LedgerTextBilling } from './ledger-text-billing.js';
import type { TextSettlement } from './text-billing.js';

const BALANCE = 100_000_000n;
/** What is held for each request: 100 tokens of output at 10 micros. */
const HOLD = 1_000n;
/** More than a whole reservation, which is 256 such holds. */
const CHARGE = 300 * 1_000;

const UNCOUNTED: RateCounter = {
  add: () => Promise.resolve({ points: 1, resetsInMs: 1_000 }),
  close: () => undefined,
};

const usage = (chargeMicros: number): TextUsage => ({
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  imageInputTokens: 0,
  outputTokens: chargeMicros / 10,
  reasoningTokens: 0,
  source: 'upstream',
});

const ended = (status: TextSettlement['status'], chargeMicros: number): TextSettlement => ({
  status,
  usage: usage(chargeMicros),
  upstream: 'vendor',
  upstreamRequestId: undefined,
  durationMs: 5,
});

describe('A text that was answered on a reservation', () => {
  let test: TestDatabase;
  let reservationLedger: ReservationLedger;
  let reservations: Reservations;
  let billing: LedgerTextBilling;
  let number = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    await seedExamplePrices(test.database);
    reservationLedger = new ReservationLedger(test.database);
    reservations = new Reservations(reservationLedger, { idleMs: 60_000, renewalMs: 60_000 });
    billing = new LedgerTextBilling(
      new RequestLedger(test.database),
      reservations,
      new TextPrices(new PriceBook(test.database)),
      new RateLimits(UNCOUNTED, 'allow', 60),
    );
  });
  afterAll(async () => {
    await reservations.close();
    await test.remove();
  });

  const run = (text: string, ...values: unknown[]) => test.database.query<Record<string, bigint>>({ text, values });

  async function account(): Promise<string> {
    const id = `acct_${++number}`;
    await run('insert into account (id, name, available_micros) values ($1, $1, $2)', id, BALANCE);
    await run(
      `insert into ledger_entry (account_id, kind, debit, credit, amount_micros)
        values ($1, 'top_up', 'funding', 'available', $2)`,
      id,
      BALANCE,
    );
    await run(
      `insert into api_key (id, account_id, name, prefix, key_hash) values ('key_' || $1, $1, 'k', 'sk', $2)`,
      id,
      Buffer.from(id),
    );
    return id;
  }

  /** Holds for requests until one is held on a reservation. */
  const reserved = (accountId: string) =>
    eventually(async () => {
      const hold = await billing.hold({
        requestId: `req_${++number}`,
        accountId,
        apiKeyId: `key_${accountId}`,
        model: 'vendor-5',
        inputTokens: 0,
        outputTokens: Number(HOLD) / 10,
      });
      return hold.reserved && hold;
    });

  it.each<[_while: string, change: string, owedMicros?: bigint]>([
    ['its account is in debt', 'update account set available_micros = 0, owed_micros = 5 where id = $1', 300_005n],
    ["the day's limit of its account is reached", 'update account set daily_limit_micros = 0 where id = $1'],
    ['its account is disabled', 'update account set disabled_at = now() where id = $1'],
    ["the day's limit of its key is reached", 'update api_key set daily_limit_micros = 0 where account_id = $1'],
    ['its key has no quota left', 'update api_key set quota_micros = held_micros + used_micros where account_id = $1'],
  ])('is charged once beyond what that has left while %s', async (_while, change, owedMicros = 0n) => {
    const accountId = await account();
    const hold = await reserved(accountId);
    await run(change, accountId);
    await billing.settle(hold, ended('aborted', CHARGE));
    await billing.settle(hold, ended('aborted', CHARGE));
    const { rows } = await run('select used_micros, owed_micros from account where id = $1', accountId);
    expect(rows).toEqual([{ used_micros: BigInt(CHARGE), owed_micros: owedMicros }]);
    expect((await run('select amount_micros from usage_record where account_id = $1', accountId)).rows).toEqual([
      { amount_micros: BigInt(CHARGE) },
    ]);
  });

  it.each(['completed', 'aborted'] as const)(
    'and %s is charged once when a sweep gave the reservation back while the database was away, as a debt where the money is spent',
    async (status) => {
      const accountId = await account();
      const hold = await reserved(accountId);
      await run(
        `update request_hold set expires_at = now() - interval '1 second' where account_id = $1 and is_reservation`,
        accountId,
      );
      expect(await reservationLedger.closeAbandoned()).toBe(1);
      await run('update account set available_micros = 400 where id = $1', accountId);
      await billing.settle(hold, ended(status, 1_000));
      await billing.settle(hold, ended(status, 1_000));
      const { rows } = await run(
        'select used_micros, available_micros, owed_micros from account where id = $1',
        accountId,
      );
      expect(rows).toEqual([{ used_micros: 1_000n, available_micros: 0n, owed_micros: 600n }]);
      expect((await run('select from usage_record where account_id = $1', accountId)).rows).toHaveLength(1);
    },
  );

  describe('near the end of the money', () => {
    const POOR = 1_500n;
    const next = (accountId: string, tokens: number) =>
      billing.hold({
        requestId: `req_${++number}`,
        accountId,
        apiKeyId: `key_${accountId}`,
        model: 'vendor-5',
        inputTokens: 0,
        outputTokens: tokens,
      });

    it.each([
      ['balance', 'update account set available_micros = $2 where id = $1'],
      ["account's limit of the day", 'update account set daily_limit_micros = $2 where id = $1'],
      ["key's limit of the day", 'update api_key set daily_limit_micros = $2 where account_id = $1'],
      ["key's quota", 'update api_key set quota_micros = $2 where account_id = $1'],
    ])('waits for what was just answered to be settled before the %s refuses the next', async (_what, change) => {
      const accountId = await account();
      await run(change, accountId, POOR);
      const first = await next(accountId, 100);
      let counted = (): void => undefined;
      const settled = new Promise<void>((resolve) => (counted = resolve)).then(() =>
        billing.settle(first, ended('completed', 100)),
      );
      billing.settling(first, settled);
      const second = next(accountId, 100);
      second.catch(() => undefined);
      // By when this one is held, the second was found to be too much.
      await next(await account(), 1);
      counted();
      expect(await second).toMatchObject({ outputTokens: 100 });
      await expect(next(accountId, 100)).rejects.toMatchObject({ status: 402 });
      await billing.settle(await second, ended('failed', 0));
    });

    it('takes back what its key keeps for later requests', async () => {
      const accountId = await account();
      await billing.settle(await reserved(accountId), ended('completed', 10));
      const held = 'select held_micros as held from account where id = $1';
      const kept = Number((await run(held, accountId)).rows[0]?.['held']);
      expect(kept).toBeGreaterThan(100_000);
      await run('update account set available_micros = $2 where id = $1', accountId, Math.floor(kept / 2));
      const all = await next(accountId, Math.floor((kept * 1.2) / 10));
      expect(all).toMatchObject({ reserved: undefined });
      await billing.settle(all, ended('failed', 0));
    });
  });

  it('is charged no more than any request moves, and its lines still add up to the charge', async () => {
    const accountId = await account();
    const hold = await reserved(accountId);
    const all = { ...usage(0), inputTokens: 1_000_000_000_000, outputTokens: 1_000_000_000_000 };
    await billing.settle(hold, { ...ended('completed', 0), usage: all });
    const { rows } = await test.database.query<{ amount: bigint; lines: { amount_micros: string }[] }>({
      text: 'select amount_micros as amount, lines from usage_record where account_id = $1',
      values: [accountId],
    });
    const [{ amount, lines } = { amount: 0n, lines: [] }] = rows;
    expect(amount).toBe(MOST_HELD_MICROS);
    expect(lines.map((line) => BigInt(line.amount_micros))).toEqual([1_250_000_000_000n, amount - 1_250_000_000_000n]);
  });

  it('leaves books that balance', async () => {
    const accountId = await account();
    const hold = await reserved(accountId);
    await run('update account set disabled_at = now() where id = $1', accountId);
    await billing.settle(hold, ended('failed', CHARGE));
    const report = await new ReconciliationService(test.database).run({ full: true });
    const ofThis = report?.findings.filter((finding) => JSON.stringify(finding).includes(`${accountId}"`));
    expect(ofThis).toEqual([]);
  });
});
