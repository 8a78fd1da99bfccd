import { setTimeout as sleep } from 'node:timers/promises';
import type { Micros } from '#contracts';
import { createTestDatabase, eventually, type TestDatabase } from '#testing';
import { ReservationLedger } from './reservation-ledger.js';
import { Reservations, type ReservedAmount, type ReserveOrder } from './reservations.js';
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

describe('Reservations', () => {
  let test: TestDatabase;
  let ledger: ReservationLedger;
  let number = 0;
  const opened: Reservations[] = [];

  beforeAll(async () => {
    test = await createTestDatabase();
    ledger = new ReservationLedger(test.database);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((reservations) => reservations.close()));
  });
  afterAll(() => test.remove());

  const open = (timing = { idleMs: 60_000, renewalMs: 60_000 }): Reservations => {
    const reservations = new Reservations(ledger, timing);
    opened.push(reservations);
    return reservations;
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

  async function books({ accountId }: ReserveOrder) {
    const { rows } = await test.database.query<{ books: bigint[] }>({
      text: `select array[a.available_micros, a.held_micros, a.used_micros, k.held_micros, k.used_micros] as books
        from account a join api_key k on k.account_id = a.id where a.id = $1`,
      values: [accountId],
    });
    const [available, held, used, keyHeld, keyUsed] = rows[0]?.books ?? [];
    expect([keyHeld, keyUsed]).toEqual([held, used]);
    return { available, held, used };
  }

  /** Draws until the key is busy enough for a reservation and it has come; answers the first reserved on it. */
  const firstReserved = (reservations: Reservations, order: ReserveOrder): Promise<ReservedAmount> =>
    eventually(() => reservations.reserve(order), { pauseMs: 5 });

  const requestId = (): string => `req_${++number}`;
  const capture = (
    reservations: Reservations,
    reserved: ReservedAmount,
    charge: Micros,
    id = requestId(),
  ): Promise<boolean> => reservations.capture(reserved, id, charge, ANSWERED);

  it('are made for busy keys only: the first requests of a second get holds of their own', async () => {
    const order = await payer(10_000_000n);
    const reservations = open();
    const requests = Array.from({ length: 7 }, () => reservations.reserve(order));
    await sleep(50);
    expect(requests).toEqual(Array.from({ length: 7 }));
    expect(await books(order)).toEqual({ available: 10_000_000n, held: 0n, used: 0n });
  });

  it('hold their money before any request uses it, charge each request once and put the rest back', async () => {
    const order = await payer(100_000_000n);
    const reservations = open();
    const reserved = await firstReserved(reservations, order);
    expect(await books(order)).toEqual({ available: 99_744_000n, held: 256_000n, used: 0n });
    const id = requestId();
    await capture(reservations, reserved, CHARGE, id);
    await reservations.capture(reserved, id, 0n, ANSWERED);
    expect(await books(order)).toEqual({ available: 99_744_000n, held: 255_960n, used: 40n });
    await reservations.close();
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
  ])('are not made when a hundredth of %s is less than eight requests', async (_what, available, quota) => {
    const order = await payer(available, quota);
    const reservations = open();
    for (let attempt = 0; attempt < 20; attempt += 1) expect(reservations.reserve(order)).toBeUndefined();
    await sleep(100);
    expect(reservations.reserve(order)).toBeUndefined();
    expect(await books(order)).toEqual({ available, held: 0n, used: 0n });
  });

  it('never hold more than a hundredth of the balance, and are never exceeded', async () => {
    const order = await payer(1_000_000n);
    const reservations = open();
    const requests = [await firstReserved(reservations, order)];
    for (let reserved = reservations.reserve(order); reserved; reserved = reservations.reserve(order))
      requests.push(reserved);
    expect(requests).toHaveLength(10);
    expect((await books(order)).held).toBeLessThanOrEqual(20_000n);
  });

  it('cover a charge beyond the reserved amount while they have enough, and otherwise leave it unchanged', async () => {
    const order = await payer(100_000_000n);
    const reservations = open();
    const reserved = await firstReserved(reservations, order);
    expect(reservations.extend(reserved, 300_000n)).toBe(false);
    expect(reserved.amountMicros).toBe(HOLD);
    expect(reservations.extend(reserved, 5_000n)).toBe(true);
    await capture(reservations, reserved, 5_000n);
    expect(await books(order)).toEqual({ available: 99_744_000n, held: 251_000n, used: 5_000n });
  });

  it('are released when their key is idle, but not while a request is running', async () => {
    const order = await payer(100_000_000n);
    const reservations = open({ idleMs: 60, renewalMs: 60_000 });
    const reserved = await firstReserved(reservations, order);
    await sleep(200);
    expect((await books(order)).held).toBe(256_000n);
    await capture(reservations, reserved, CHARGE);
    await eventually(async () => (await books(order)).held === 0n);
    expect(await books(order)).toEqual({ available: 99_999_960n, held: 0n, used: 40n });
  });

  it('of a dead process are released by the sweep, and charge nothing afterwards', async () => {
    const order = await payer(100_000_000n);
    const reservations = open();
    const [reserved, late] = [await firstReserved(reservations, order), await firstReserved(reservations, order)];
    await capture(reservations, reserved, CHARGE);
    await test.database.query({
      text: `update request_hold set expires_at = now() - interval '1 second' where account_id = $1`,
      values: [order.accountId],
    });
    expect(await new RequestLedger(test.database).releaseAbandoned()).toBe(0);
    expect(await ledger.closeAbandoned()).toBe(1);
    await capture(reservations, late, CHARGE);
    expect(await books(order)).toEqual({ available: 99_999_960n, held: 0n, used: 40n });
    expect(reservations.reserve(order)).toBeUndefined();
  });

  it('released by a sweep under a living process are used at most until the next renewal', async () => {
    const order = await payer(100_000_000n);
    const reservations = open({ idleMs: 60_000, renewalMs: 50 });
    reservations.return(await firstReserved(reservations, order));
    await sleep(120);
    const reserved = reservations.reserve(order);
    expect(reserved).toBeDefined();
    if (reserved) reservations.return(reserved);
    const { rows } = await test.database.query<{ request_id: string }>({
      text: 'select request_id from request_hold where account_id = $1',
      values: [order.accountId],
    });
    await ledger.close(rows.map((row) => row.request_id));
    // Before the looks that follow, of which the last may ask for the next reservation.
    expect((await books(order)).held).toBe(0n);
    await eventually(() => {
      const late = reservations.reserve(order);
      if (late) reservations.return(late);
      return late === undefined;
    });
  });

  it('keep the ledger exact through random requests, charges, repeats, crashes and top-ups of many keys at once', async () => {
    const orders = await Promise.all([
      payer(3_000_000n),
      payer(50_000_000n),
      payer(40_000_000n, 5_000_000n),
      payer(0n, null, true),
    ]);
    const charged = new Map(orders.map((order) => [order, 0n]));
    const timing = { idleMs: 30, renewalMs: 50 };
    const [odd, even] = [open(timing), open(timing)];
    const one = async (order: ReserveOrder, reservations: Reservations): Promise<void> => {
      const reserved = reservations.reserve(order);
      if (!reserved) return;
      await sleep(Math.random() * 20);
      const charge = BigInt(Math.floor(Math.random() * 2_000));
      if (!reservations.extend(reserved, charge)) return reservations.return(reserved);
      const id = requestId();
      await capture(reservations, reserved, charge, id);
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

  it('leave a ledger that reconciles', async () => {
    expect(await new ReconciliationService(test.database).run()).toMatchObject({ findings: [] });
  });
});
