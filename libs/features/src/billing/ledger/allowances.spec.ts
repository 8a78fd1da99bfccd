import { setTimeout as sleep } from 'node:timers/promises';
import type { Micros } from '#contracts';
import { createTestDatabase, type TestDatabase } from '#testing';
import { AllowanceLedger } from './allowance-ledger.js';
import { Allowances, type Draw, type DrawOrder } from './allowances.js';
import { ReconciliationService } from './reconciliation.service.js';
import { RequestLedger } from './request-ledger.js';
import type { RequestUsage } from './request-usage.js';

const ANSWERED: RequestUsage = {
  model: 'vendor-5',
  upstream: 'sandbox',
  status: 'completed',
  lines: [],
  inputTokens: 12,
  cachedInputTokens: 0,
  outputTokens: 30,
  reasoningTokens: 0,
  durationMs: 8,
};
/** What one request may cost, and what it does. */
const HOLD = 1_000n;
const CHARGE = 40n;

describe('Allowances', () => {
  let test: TestDatabase;
  let ledger: AllowanceLedger;
  let number = 0;
  const opened: Allowances[] = [];

  beforeAll(async () => {
    test = await createTestDatabase();
    ledger = new AllowanceLedger(test.database);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((allowances) => allowances.close()));
  });
  afterAll(() => test.remove());

  const open = (timing = { idleMs: 60_000, renewalMs: 60_000 }): Allowances => {
    const allowances = new Allowances(ledger, timing);
    opened.push(allowances);
    return allowances;
  };

  async function payer(availableMicros: bigint, quotaMicros: bigint | null = null, unlimited = false) {
    const accountId = `acct_${++number}`;
    const apiKeyId = `key_${accountId}`;
    await test.database.query({
      text: 'insert into account (id, name, available_micros, unlimited) values ($1, $1, $2, $3)',
      values: [accountId, availableMicros, unlimited],
    });
    await test.database.query({
      text: `insert into ledger_entry (account_id, kind, debit, credit, amount_micros)
        select $1, 'top_up', 'funding', 'available', $2 where $2::bigint > 0`,
      values: [accountId, availableMicros],
    });
    await test.database.query({
      text: `insert into api_key (id, account_id, name, prefix, key_hash, quota_micros) values ($2, $1, 'k', 'sk', $3, $4)`,
      values: [accountId, apiKeyId, Buffer.from(accountId), quotaMicros],
    });
    return { accountId, apiKeyId, amountMicros: HOLD };
  }

  async function books({ accountId }: DrawOrder) {
    const { rows } = await test.database.query<{ books: bigint[] }>({
      text: `select array[a.available_micros, a.held_micros, a.used_micros, k.held_micros, k.used_micros] as books
        from account a join api_key k on k.account_id = a.id where a.id = $1`,
      values: [accountId],
    });
    const [available, held, used, keyHeld, keyUsed] = rows[0]?.books ?? [];
    expect([keyHeld, keyUsed]).toEqual([held, used]);
    return { available, held, used };
  }

  /** Draws until the key is busy enough for an allowance and it has come; answers the first draw on it. */
  async function firstDraw(allowances: Allowances, order: DrawOrder): Promise<Draw> {
    for (let attempt = 0; attempt < 2_000; attempt += 1) {
      const draw = allowances.draw(order);
      if (draw) return draw;
      await sleep(5);
    }
    throw new Error('no allowance came');
  }

  const requestId = (): string => `req_${++number}`;
  const capture = (allowances: Allowances, draw: Draw, charge: Micros, id = requestId()): Promise<void> =>
    allowances.capture(draw, id, charge, ANSWERED);

  it('are given to busy keys only: the first requests of a second hold their money themselves', async () => {
    const order = await payer(10_000_000n);
    const allowances = open();
    const draws = Array.from({ length: 7 }, () => allowances.draw(order));
    await sleep(50);
    expect(draws).toEqual(Array.from({ length: 7 }));
    expect(await books(order)).toEqual({ available: 10_000_000n, held: 0n, used: 0n });
  });

  it('hold their money before anybody draws, charge each request once and put the rest back', async () => {
    const order = await payer(100_000_000n);
    const allowances = open();
    const draw = await firstDraw(allowances, order);
    expect(await books(order)).toEqual({ available: 99_744_000n, held: 256_000n, used: 0n });
    const id = requestId();
    await capture(allowances, draw, CHARGE, id);
    await allowances.capture(draw, id, 0n, ANSWERED);
    expect(await books(order)).toEqual({ available: 99_744_000n, held: 255_960n, used: 40n });
    await allowances.close();
    expect(await books(order)).toEqual({ available: 99_999_960n, held: 0n, used: 40n });
    const { rows } = await test.database.query({
      text: `select request_id, amount_micros, status from usage_record where account_id = $1`,
      values: [order.accountId],
    });
    expect(rows).toEqual([{ request_id: id, amount_micros: 40n, status: 'completed' }]);
  });

  it.each([
    ['an account', 700_000n, null],
    ["a key's quota", 100_000_000n, 700_000n],
  ])('are not given when a hundredth of %s is less than eight requests', async (_what, available, quota) => {
    const order = await payer(available, quota);
    const allowances = open();
    for (let attempt = 0; attempt < 20; attempt += 1) expect(allowances.draw(order)).toBeUndefined();
    await sleep(100);
    expect(allowances.draw(order)).toBeUndefined();
    expect(await books(order)).toEqual({ available, held: 0n, used: 0n });
  });

  it('never hold more than a hundredth of what is left, and give out no more than they hold', async () => {
    const order = await payer(1_000_000n);
    const allowances = open();
    const draws = [await firstDraw(allowances, order)];
    for (let draw = allowances.draw(order); draw; draw = allowances.draw(order)) draws.push(draw);
    expect(draws).toHaveLength(10);
    expect((await books(order)).held).toBeLessThanOrEqual(20_000n);
  });

  it('stretch a draw to a charge beyond it while they have enough, and otherwise leave it as it is', async () => {
    const order = await payer(100_000_000n);
    const allowances = open();
    const draw = await firstDraw(allowances, order);
    expect(allowances.stretch(draw, 300_000n)).toBe(false);
    expect(draw.amountMicros).toBe(HOLD);
    expect(allowances.stretch(draw, 5_000n)).toBe(true);
    await capture(allowances, draw, 5_000n);
    expect(await books(order)).toEqual({ available: 99_744_000n, held: 251_000n, used: 5_000n });
  });

  it('are given back when their key is idle, but not while a request is under way', async () => {
    const order = await payer(100_000_000n);
    const allowances = open({ idleMs: 60, renewalMs: 60_000 });
    const draw = await firstDraw(allowances, order);
    await sleep(200);
    expect((await books(order)).held).toBe(256_000n);
    await capture(allowances, draw, CHARGE);
    while ((await books(order)).held !== 0n) await sleep(20);
    expect(await books(order)).toEqual({ available: 99_999_960n, held: 0n, used: 40n });
  });

  it('of a process that died are given back by the sweep, and charge nobody afterwards', async () => {
    const order = await payer(100_000_000n);
    const allowances = open();
    const [draw, late] = [await firstDraw(allowances, order), await firstDraw(allowances, order)];
    await capture(allowances, draw, CHARGE);
    await test.database.query({
      text: `update request_hold set expires_at = now() - interval '1 second' where account_id = $1`,
      values: [order.accountId],
    });
    expect(await new RequestLedger(test.database).releaseExpired()).toBe(0);
    expect(await ledger.closeExpired()).toBe(1);
    await capture(allowances, late, CHARGE);
    expect(await books(order)).toEqual({ available: 99_999_960n, held: 0n, used: 40n });
    expect(allowances.draw(order)).toBeUndefined();
  });

  it('that a sweep took from a living process are drawn on no longer than until the next renewal', async () => {
    const order = await payer(100_000_000n);
    const allowances = open({ idleMs: 60_000, renewalMs: 50 });
    allowances.return(await firstDraw(allowances, order));
    await sleep(120);
    const draw = allowances.draw(order);
    expect(draw).toBeDefined();
    if (draw) allowances.return(draw);
    const { rows } = await test.database.query<{ request_id: string }>({
      text: 'select request_id from request_hold where account_id = $1',
      values: [order.accountId],
    });
    await ledger.close(rows.map((row) => row.request_id));
    for (let late = allowances.draw(order); late; late = allowances.draw(order)) {
      allowances.return(late);
      await sleep(20);
    }
    expect((await books(order)).held).toBe(0n);
  });

  it('keep the books exact through random draws, charges, repeats, crashes and top-ups of many keys at once', async () => {
    const orders = await Promise.all([
      payer(3_000_000n),
      payer(50_000_000n),
      payer(40_000_000n, 5_000_000n),
      payer(0n, null, true),
    ]);
    const charged = new Map(orders.map((order) => [order, 0n]));
    const timing = { idleMs: 30, renewalMs: 50 };
    const [odd, even] = [open(timing), open(timing)];
    const one = async (order: DrawOrder, allowances: Allowances): Promise<void> => {
      const draw = allowances.draw(order);
      if (!draw) return;
      await sleep(Math.random() * 20);
      const charge = BigInt(Math.floor(Math.random() * 2_000));
      if (!allowances.stretch(draw, charge)) return allowances.return(draw);
      const id = requestId();
      await capture(allowances, draw, charge, id);
      charged.set(order, (charged.get(order) ?? 0n) + charge);
    };
    for (let round = 0; round < 60; round += 1) {
      const work = orders.flatMap((order) =>
        Array.from({ length: 12 }, (_, index) => one(order, index % 2 ? odd : even)),
      );
      await Promise.all([...work, sleep(10)]);
    }
    await Promise.all([odd.close(), even.close()]);
    for (const [order, used] of charged) {
      expect(used).toBeGreaterThan(0n);
      expect(await books(order)).toMatchObject({ held: 0n, used });
    }
  });

  it('leave books behind that reconciliation finds nothing wrong with', async () => {
    expect(await new ReconciliationService(test.database).run()).toMatchObject({ findings: [] });
  });
});
