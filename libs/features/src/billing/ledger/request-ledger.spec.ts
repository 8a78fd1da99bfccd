import { Database, DatabaseConfig, type Statement } from '#platform';
import { createTestDatabase, type TestDatabase, untilBlocked } from '#testing';
import { LedgerService } from './ledger.service.js';
import { ReconciliationService } from './reconciliation.service.js';
import type { RequestHold } from './request-hold.js';
import { RequestLedger } from './request-ledger.js';
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
      text: 'select array[available_micros, held_micros, used_micros, owed_micros] as books from account where id = $1',
      values: [id],
    });
    return rows[0]?.books;
  }

  async function balanced(): Promise<void> {
    const service = new ReconciliationService(test.database);
    const isNews = ({ check }: { check: string }) => ['debts', 'request_holds', 'open_holds'].includes(check);
    expect((await service.run({ full: true }))?.findings.filter(isNews)).toEqual([]);
  }

  async function entries(requestId: string) {
    const { rows } = await test.database.query<{ kind: string; amount_micros: bigint }>({
      text: 'select kind, amount_micros from ledger_entry where request_id = $1 order by kind',
      values: [requestId],
    });
    return rows.map((row) => [row.kind, row.amount_micros]);
  }

  it('charges less than was held and releases the rest', async () => {
    const { id, hold } = await account(1_000n);
    const held = hold(300n);
    expect(await ledger.hold(held)).toBe(300n);
    expect(await books(id)).toEqual([700n, 300n, 0n, 0n]);
    const paid = await ledger.capture({ ...capture(held), chargeMicros: 120n });
    expect(paid).toEqual({ paidMicros: 120n, owedMicros: 0n });
    expect(await books(id)).toEqual([880n, 0n, 120n, 0n]);
    expect(await entries(held.requestId)).toEqual([
      ['capture', 120n],
      ['hold', 300n],
      ['release', 180n],
    ]);
  });

  it('charges an overrun to the rest of the balance, and records what is missing as a debt', async () => {
    const { id, hold } = await account(1_000n);
    const held = hold(300n);
    await ledger.hold(held);
    const paid = await ledger.capture({ ...capture(held), chargeMicros: 5_000n });
    expect(paid).toEqual({ paidMicros: 1_000n, owedMicros: 4_000n });
    expect(await books(id)).toEqual([0n, 0n, 5_000n, 4_000n]);
    expect(await entries(held.requestId)).toEqual([
      ['capture', 300n],
      ['debt', 4_000n],
      ['hold', 300n],
      ['overrun', 700n],
    ]);
    const { rows } = await test.database.query<{ amount: bigint; owed: bigint }>({
      text: 'select amount_micros as amount, owed_micros as owed from usage_record where request_id = $1',
      values: [held.requestId],
    });
    expect(rows).toEqual([{ amount: 5_000n, owed: 4_000n }]);
    await expect(ledger.hold(hold(0n))).rejects.toMatchObject({
      code: 'insufficient_balance',
      publicMessage: expect.stringContaining('owes'),
    });
  });

  it('pays a debt from the next top-ups first, and only then accepts requests', async () => {
    const { id, hold } = await account(100n);
    const held = hold(100n);
    await ledger.hold(held);
    await ledger.capture({ ...capture(held), chargeMicros: 1_100n });
    const funds = new LedgerService(test.database);
    const topUp = (amountMicros: bigint) =>
      funds.topUp({ accountId: id, amountMicros, reference: `r${++number}`, note: null });
    await topUp(400n);
    expect(await books(id)).toEqual([0n, 0n, 1_100n, 600n]);
    await expect(ledger.hold(hold(1n))).rejects.toMatchObject({ code: 'insufficient_balance' });
    await topUp(1_000n);
    expect(await books(id)).toEqual([400n, 0n, 1_100n, 0n]);
    await ledger.hold(hold(400n));
    await balanced();
  });

  it('pays a debt from holds that came back after it', async () => {
    const { id, hold } = await account(1_000n);
    const [first, second] = [hold(400n), hold(600n)];
    await Promise.all([ledger.hold(first), ledger.hold(second)]);
    await ledger.capture({ ...capture(first), chargeMicros: 500n });
    expect(await books(id)).toEqual([0n, 600n, 500n, 100n]);
    await expect(ledger.hold(hold(1n))).rejects.toMatchObject({ code: 'insufficient_balance' });
    await ledger.release(second.requestId, FAILED);
    await ledger.hold(hold(500n));
    expect(await books(id)).toEqual([0n, 500n, 500n, 0n]);
    await balanced();
  });

  it('owes the exact cost of six parallel requests beyond one small balance', async () => {
    const { id, hold } = await account(50_000n);
    const held = Array.from({ length: 6 }, () => hold(5_000n));
    await Promise.all(held.map((one) => ledger.hold(one)));
    await Promise.all(held.map((one) => ledger.capture({ ...capture(one), chargeMicros: 4_650_000n })));
    expect(await books(id)).toEqual([0n, 0n, 27_900_000n, 27_850_000n]);
    await balanced();
  });

  it('charges costs beyond the quota of a key to its account only', async () => {
    const { id, hold } = await account(1_000_000n, 500n);
    const held = hold(300n);
    await ledger.hold(held);
    await expect(ledger.hold(hold(201n))).rejects.toMatchObject({ code: 'insufficient_key_quota' });
    expect(await ledger.capture({ ...capture(held), chargeMicros: 900n })).toEqual({
      paidMicros: 900n,
      owedMicros: 0n,
    });
    expect(await books(id)).toEqual([999_100n, 0n, 900n, 0n]);
    const { rows } = await test.database.query({
      text: 'select used_micros from api_key where account_id = $1',
      values: [id],
    });
    expect(rows).toEqual([{ used_micros: 500n }]);
    await balanced();
  });

  it('reduces a flexible hold to half of the balance, but never below its minimum', async () => {
    const poor = await account(1_000n);
    expect(await ledger.hold({ ...poor.hold(5_000n), leastMicros: 600n })).toBe(600n);
    expect(await ledger.hold({ ...poor.hold(5_000n), leastMicros: 1n })).toBe(200n);
    expect(await ledger.hold({ ...poor.hold(200n), leastMicros: 1n })).toBe(200n);
    await expect(ledger.hold({ ...poor.hold(5_000n), leastMicros: 1n })).rejects.toMatchObject({
      code: 'insufficient_balance',
    });
    const bound = await account(1_000n, 400n);
    expect(await ledger.hold({ ...bound.hold(5_000n), leastMicros: 100n })).toBe(200n);
    const refused = await account(1_000n, 50n);
    await expect(ledger.hold({ ...refused.hold(5_000n), leastMicros: 100n })).rejects.toMatchObject({
      code: 'insufficient_key_quota',
    });
    const rich = await account(0n, null, true);
    expect(await ledger.hold({ ...rich.hold(5_000n), leastMicros: 100n })).toBe(5_000n);
  });

  it('lets an unlimited account go below zero', async () => {
    const { id, hold } = await account(0n, null, true);
    const held = hold(300n);
    await ledger.hold(held);
    await ledger.capture({ ...capture(held), chargeMicros: 400n });
    expect(await books(id)).toEqual([-400n, 0n, 400n, 0n]);
  });

  it('settles once, however often and in whatever way settlement is requested', async () => {
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

  it('accepts exactly as many parallel holds as the balance covers', async () => {
    const { id, hold } = await account(1_000n);
    const outcomes = await Promise.allSettled(Array.from({ length: 300 }, () => ledger.hold(hold(10n))));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(100);
    expect(await books(id)).toEqual([0n, 1_000n, 0n, 0n]);
  });

  it('does not let a key without quota affect the holds of others', async () => {
    const poor = await account(1_000n, 5n);
    const rich = await account(1_000n);
    const orders = Array.from({ length: 20 }, (_, index) => ledger.hold((index % 2 ? rich : poor).hold(1n)));
    const outcomes = await Promise.allSettled(orders);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(15);
    expect(await books(poor.id)).toEqual([995n, 5n, 0n, 0n]);
  });

  it('releases the whole hold when the request failed, and counts the failure', async () => {
    const { id, hold } = await account(1_000n);
    const held = hold(1_000n);
    await ledger.hold(held);
    expect(await ledger.release(held.requestId, FAILED)).toBe(true);
    expect(await books(id)).toEqual([1_000n, 0n, 0n, 0n]);
    const { rows } = await test.database.query({
      text: 'select requests, failed_requests, amount_micros from usage_daily where account_id = $1',
      values: [id],
    });
    expect(rows).toEqual([{ requests: 1n, failed_requests: 1n, amount_micros: 0n }]);
  });

  it('asks once for money that is not there, and again only where something was settled or given back meanwhile', async () => {
    const asked: (string | undefined)[] = [];
    const database = new Proxy(test.database, {
      get: (target, name) =>
        name === 'query'
          ? (statement: Statement) => (asked.push(statement.name), target.query(statement))
          : Reflect.get(target, name, target),
    });
    const counting = new RequestLedger(database);
    const { id, hold } = await account(100n);
    const times = async (ask: () => Promise<unknown>, name: string): Promise<number> => {
      asked.length = 0;
      await expect(ask()).rejects.toMatchObject({ code: 'insufficient_balance' });
      return asked.filter((each) => each === name).length;
    };
    expect(await times(() => counting.hold(hold(400n)), 'hold_requests')).toBe(1);
    expect(await times(() => counting.hold(hold(400n), () => Promise.resolve(false)), 'hold_requests')).toBe(1);
    expect(await times(() => counting.hold(hold(400n), () => Promise.resolve(true)), 'hold_requests')).toBe(2);
    expect(await times(() => counting.expectFunds(hold(400n)), 'read_funds')).toBe(1);
    let settle = (): void => undefined;
    counting.settling(id, new Promise<void>((resolve) => (settle = resolve)));
    const both = times(() => counting.hold(hold(400n)), 'hold_requests');
    settle();
    expect(await both).toBe(2);
  });

  it('locks the account before a hold, so that holding and settling never deadlock', async () => {
    const { id, hold } = await account(1_000n);
    const held = hold(400n);
    await ledger.hold(held);
    const settled = await test.database.transaction(async (tx) => {
      await tx.query({ text: 'select from account where id = $1 for no key update', values: [id] });
      const waiting = ledger.release(held.requestId, FAILED);
      await untilBlocked(test.database);
      const { rowCount } = await tx.query({
        text: 'select from request_hold where request_id = $1 for update nowait',
        values: [held.requestId],
      });
      expect(rowCount).toBe(1);
      return { waiting };
    });
    expect(await settled.waiting).toBe(true);
    expect(await books(id)).toEqual([1_000n, 0n, 0n, 0n]);
  });

  it('holds for others while hundreds of holds of one account wait for its lock', async () => {
    const crowd = await account(1_000_000n);
    const other = await account(1_000n);
    const held = await test.database.transaction(async (tx) => {
      await tx.query({ text: 'select from account where id = $1 for no key update', values: [crowd.id] });
      const waiting = [Promise.all(Array.from({ length: 100 }, () => ledger.hold(crowd.hold(1n))))];
      await untilBlocked(test.database);
      waiting.push(Promise.all(Array.from({ length: 100 }, () => ledger.hold(crowd.hold(1n)))));
      expect(await ledger.hold(other.hold(10n))).toBe(10n);
      return { waiting };
    });
    await Promise.all(held.waiting);
    expect(await books(crowd.id)).toEqual([999_800n, 200n, 0n, 0n]);
  });

  it('releases the holds of a dead process', async () => {
    const { id, hold } = await account(1_000n);
    const held = hold(400n);
    await ledger.hold(held);
    expect(await ledger.releaseAbandoned()).toBe(0);
    await test.database.query({
      text: `update request_hold set expires_at = now() - interval '1 second' where request_id = $1`,
      values: [held.requestId],
    });
    expect(await ledger.releaseAbandoned()).toBe(1);
    expect(await books(id)).toEqual([1_000n, 0n, 0n, 0n]);
  });

  it('refuses amounts that no book can hold', async () => {
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
    expect(await books(id)).toEqual([2n, 0n, 9_007_199_254_740_992_999n, 0n]);
  });

  it.each<[string, (patient: RequestLedger, hold: RequestHold) => Promise<unknown>]>([
    ['a hold', (patient, hold) => patient.hold(hold)],
    ['a look at the money', (patient, hold) => patient.expectFunds(hold)],
  ])('reads on the share of its account why %s is refused: who has no money delays no other', async (_, ask) => {
    const [poor, other] = [await account(0n), await account(0n)];
    const database = new Database(
      test.url,
      Object.assign(new DatabaseConfig(), { DATABASE_CONNECT_TIMEOUT_SECONDS: 60 }),
    );
    const patient = new RequestLedger(database);
    let free = (): void => undefined;
    const freed = new Promise<void>((resolve) => (free = resolve));
    // More than its share: what comes after them waits until they are over.
    const busy = Promise.all(Array.from({ length: 12 }, () => database.of(poor.id).transaction(() => freed)));
    const refused: string[] = [];
    const refuse = async ({ id, hold }: typeof poor): Promise<void> => {
      await expect(ask(patient, hold(1n))).rejects.toMatchObject({ code: 'insufficient_balance' });
      refused.push(id);
    };
    const first = refuse(poor);
    await refuse(other);
    free();
    await Promise.all([first, busy]);
    expect(refused).toEqual([other.id, poor.id]);
    patient.onModuleDestroy();
    await database.close();
  });

  it('gives back the holds of dead processes although 200 older ones cannot be given back', async () => {
    const stuck = await account(1_000_000n);
    const other = await account(1_000n);
    const holds = Array.from({ length: 200 }, () => stuck.hold(10n));
    await Promise.all([...holds, other.hold(10n)].map((hold) => ledger.hold(hold)));
    const expire = (id: string, ago: string) =>
      test.database.query({
        text: `update request_hold set expires_at = now() - $2::interval where account_id = $1`,
        values: [id, ago],
      });
    await expire(stuck.id, '2 hours');
    await expire(other.id, '1 hour');
    await test.database.query({
      text: `create function refuse_release() returns trigger language plpgsql as $$ begin raise 'no release'; end $$;
        create trigger no_release before delete on request_hold for each row
          when (old.account_id = '${stuck.id}') execute function refuse_release()`,
    });
    for (let round = 0; round < 2; round += 1) await ledger.releaseAbandoned();
    expect(await books(other.id)).toEqual([1_000n, 0n, 0n, 0n]);
    await test.database.query({ text: 'drop trigger no_release on request_hold; delete from paused_work' });
    await ledger.releaseAbandoned();
    expect(await books(stuck.id)).toEqual([1_000_000n, 0n, 0n, 0n]);
  });
});

const capture = (held: RequestHold) => ({ requestId: held.requestId, heldMicros: held.amountMicros, usage: ANSWERED });
