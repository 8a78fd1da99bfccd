import { createTestDatabase, type TestDatabase } from '#testing';
import { RequestLedger, type RequestHold } from './request-ledger.js';
import type { RequestUsage } from './request-usage.js';

const ANSWERED: RequestUsage = {
  model: 'vendor-5',
  upstream: 'sandbox',
  status: 'completed',
  lines: [],
  inputTokens: 12,
  cachedInputTokens: 2,
  outputTokens: 30,
  reasoningTokens: 10,
  durationMs: 812.4,
};
const FAILED: RequestUsage = { ...ANSWERED, status: 'failed' };

describe('The ledger of requests that answer at once', () => {
  let test: TestDatabase;
  let ledger: RequestLedger;
  let number = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    ledger = new RequestLedger(test.database);
  });
  afterAll(() => test.remove());

  async function account(availableMicros: bigint, quotaMicros: bigint | null = null, unlimited = false) {
    const id = `acct_${++number}`;
    await test.database.query({
      text: 'insert into account (id, name, available_micros, unlimited) values ($1, $1, $2, $3)',
      values: [id, availableMicros, unlimited],
    });
    await test.database.query({
      text: `insert into api_key (id, account_id, name, prefix, key_hash, quota_micros) values ($1, $2, 'k', 'sk', $3, $4)`,
      values: [`key_${id}`, id, Buffer.from(id), quotaMicros],
    });
    const hold = (amountMicros: bigint, requestId = `req_${++number}`): RequestHold => ({
      accountId: id,
      apiKeyId: `key_${id}`,
      requestId,
      amountMicros,
    });
    return { id, hold };
  }

  async function books(id: string) {
    const { rows } = await test.database.query<{ books: bigint[] }>({
      text: 'select array[available_micros, held_micros, used_micros] as books from account where id = $1',
      values: [id],
    });
    return rows[0]?.books;
  }

  async function entries(requestId: string) {
    const { rows } = await test.database.query<{ kind: string; amount_micros: bigint }>({
      text: 'select kind, amount_micros from ledger_entry where request_id = $1 order by kind',
      values: [requestId],
    });
    return rows.map((row) => [row.kind, row.amount_micros]);
  }

  it('charges less than was held and gives the rest back', async () => {
    const { id, hold } = await account(1_000n);
    const held = hold(300n);
    await ledger.hold(held);
    expect(await books(id)).toEqual([700n, 300n, 0n]);
    const paid = await ledger.capture({ ...capture(held), chargeMicros: 120n });
    expect(paid).toEqual({ paidMicros: 120n });
    expect(await books(id)).toEqual([880n, 0n, 120n]);
    expect(await entries(held.requestId)).toEqual([
      ['capture', 120n],
      ['hold', 300n],
      ['release', 180n],
    ]);
  });

  it('takes what goes beyond the hold from what is left, and forgives the rest', async () => {
    const { id, hold } = await account(1_000n);
    const held = hold(300n);
    await ledger.hold(held);
    expect(await ledger.capture({ ...capture(held), chargeMicros: 5_000n })).toEqual({ paidMicros: 1_000n });
    expect(await books(id)).toEqual([0n, 0n, 1_000n]);
    expect(await entries(held.requestId)).toEqual([
      ['capture', 300n],
      ['hold', 300n],
      ['overrun', 700n],
    ]);
    const { rows } = await test.database.query<{ lines: unknown }>({
      text: 'select lines from usage_record where request_id = $1',
      values: [held.requestId],
    });
    expect(rows[0]?.lines).toEqual([{ source: 'uncollected', amount_micros: '-4000' }]);
  });

  it('never charges a key beyond its quota, whatever the account could pay', async () => {
    const { id, hold } = await account(1_000_000n, 500n);
    const held = hold(300n);
    await ledger.hold(held);
    await expect(ledger.hold(hold(201n))).rejects.toMatchObject({ code: 'insufficient_key_quota' });
    expect(await ledger.capture({ ...capture(held), chargeMicros: 900n })).toEqual({ paidMicros: 500n });
    expect(await books(id)).toEqual([999_500n, 0n, 500n]);
  });

  it('lets an unlimited account go below zero', async () => {
    const { id, hold } = await account(0n, null, true);
    const held = hold(300n);
    await ledger.hold(held);
    await ledger.capture({ ...capture(held), chargeMicros: 400n });
    expect(await books(id)).toEqual([-400n, 0n, 400n]);
  });

  it('settles once, however often and in whatever way it is told to', async () => {
    const { id, hold } = await account(1_000n);
    const held = hold(300n);
    await ledger.hold(held);
    await ledger.hold(held);
    const outcomes = await Promise.all([
      ledger.capture({ ...capture(held), chargeMicros: 100n }),
      ledger.capture({ ...capture(held), chargeMicros: 100n }),
      ledger.capture({ ...capture(held), chargeMicros: 400n }),
    ]);
    expect(outcomes.filter(Boolean)).toHaveLength(1);
    expect(await ledger.release(held.requestId, FAILED)).toBe(false);
    const [available, stillHeld, used] = (await books(id)) ?? [];
    expect([(available ?? 0n) + (used ?? 0n), stillHeld]).toEqual([1_000n, 0n]);
  });

  it('accepts exactly as many of many parallel holds as the balance covers', async () => {
    const { id, hold } = await account(1_000n);
    const outcomes = await Promise.allSettled(Array.from({ length: 300 }, () => ledger.hold(hold(10n))));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(100);
    expect(await books(id)).toEqual([0n, 1_000n, 0n]);
  });

  it('lets a key without quota left not spoil the holds of its neighbours', async () => {
    const poor = await account(1_000n, 5n);
    const rich = await account(1_000n);
    const orders = Array.from({ length: 20 }, (_, index) => ledger.hold((index % 2 ? rich : poor).hold(1n)));
    const outcomes = await Promise.allSettled(orders);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(15);
    expect(await books(poor.id)).toEqual([995n, 5n, 0n]);
  });

  it('gives a hold back whole when the request failed, and counts the failure', async () => {
    const { id, hold } = await account(1_000n);
    const held = hold(1_000n);
    await ledger.hold(held);
    expect(await ledger.release(held.requestId, FAILED)).toBe(true);
    expect(await books(id)).toEqual([1_000n, 0n, 0n]);
    const { rows } = await test.database.query({
      text: 'select requests, failed_requests, amount_micros from usage_daily where account_id = $1',
      values: [id],
    });
    expect(rows).toEqual([{ requests: 1n, failed_requests: 1n, amount_micros: 0n }]);
  });

  it('waits for the account before it touches a hold, so that holding and settling never wait in a circle', async () => {
    const { id, hold } = await account(1_000n);
    const held = hold(400n);
    await ledger.hold(held);
    const settled = await test.database.transaction(async (tx) => {
      await tx.query({ text: 'select from account where id = $1 for no key update', values: [id] });
      const waiting = ledger.release(held.requestId, FAILED);
      await new Promise((resolve) => setTimeout(resolve, 200));
      const { rowCount } = await tx.query({
        text: 'select from request_hold where request_id = $1 for update nowait',
        values: [held.requestId],
      });
      expect(rowCount).toBe(1);
      return { waiting };
    });
    expect(await settled.waiting).toBe(true);
    expect(await books(id)).toEqual([1_000n, 0n, 0n]);
  });

  it('releases what a dead process was holding', async () => {
    const { id, hold } = await account(1_000n);
    const held = hold(400n);
    await ledger.hold(held);
    expect(await ledger.releaseExpired()).toBe(0);
    await test.database.query({
      text: `update request_hold set expires_at = now() - interval '1 second' where request_id = $1`,
      values: [held.requestId],
    });
    expect(await ledger.releaseExpired()).toBe(1);
    expect(await books(id)).toEqual([1_000n, 0n, 0n]);
  });

  it('refuses amounts that no book could hold', async () => {
    const { hold } = await account(1_000n);
    await expect(ledger.hold(hold(-1n))).rejects.toThrow(RangeError);
    await expect(ledger.hold(hold(2n ** 63n))).rejects.toThrow(RangeError);
    await expect(ledger.hold(hold(2n ** 63n - 1n))).rejects.toMatchObject({ code: 'insufficient_balance' });
    await ledger.hold(hold(0n));
  });

  it('keeps amounts beyond 2^53 exact', async () => {
    const { id, hold } = await account(9_007_199_254_740_993_001n);
    const held = hold(9_007_199_254_740_993_000n);
    await ledger.hold(held);
    await ledger.capture({ ...capture(held), chargeMicros: 9_007_199_254_740_992_999n });
    expect(await books(id)).toEqual([2n, 0n, 9_007_199_254_740_992_999n]);
  });
});

const capture = (held: RequestHold) => ({ requestId: held.requestId, heldMicros: held.amountMicros, usage: ANSWERED });
