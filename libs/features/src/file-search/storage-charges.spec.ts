import { tmpdir } from 'node:os';
import { createMediaStore, MediaStoreConfig } from '#media';
import { noFailpoints, readProcessConfig } from '#runtime';
import { createTestDatabase, type TestDatabase } from '#testing';
import { ReconciliationService } from '../billing/ledger/reconciliation.service.js';
import { RequestLedger } from '../billing/ledger/request-ledger.js';
import { PriceBook } from '../billing/prices/price-book.js';
import { checkPrices } from '../billing/prices/check-prices.js';
import { FilesService } from './files.service.js';
import { StorageCharges } from './storage-charges.js';

const MIB = 1024 * 1024;
/** 0.1 for a GiB-day. */
const PRICE = { amount: 100_000n, per: 1_024n };

describe('The price of stored files', () => {
  let test: TestDatabase;
  let ledger: RequestLedger;
  beforeAll(async () => {
    test = await createTestDatabase();
    ledger = new RequestLedger(test.database);
  });
  afterAll(() => test.remove());

  const charges = (): StorageCharges => new StorageCharges(test.database, ledger, new PriceBook(test.database));
  /** A process whose ledger fails; one that dies leaves no pause. */
  const die = async (dying: RequestLedger): Promise<void> => {
    await chargeAll(new StorageCharges(test.database, dying, new PriceBook(test.database)));
    const { rows } = await test.database.query({ text: `delete from paused_work where reason = 'died' returning 1` });
    expect(rows).not.toEqual([]);
  };
  const chargeAll = async (by = charges()): Promise<void> => {
    while (await by.chargeDue());
  };

  /** An account whose files, so many MiB, have lain for a day and a half. */
  async function keeper(id: string, mib: number, balanceMicros: bigint): Promise<string> {
    await test.database.query({
      text: `insert into account (id, name, available_micros) values ($1, $1, $2)`,
      values: [id, 0n],
    });
    await test.database.query({
      text: `insert into api_key (id, account_id, name, prefix, key_hash) values ($1, $2, 'k', 'sk', $3)`,
      values: [`key_${id}`, id, Buffer.from(id)],
    });
    await test.database.query({
      text: `with paid as (update account set available_micros = $2 where id = $1)
        insert into ledger_entry (account_id, kind, debit, credit, amount_micros)
        values ($1, 'top_up', 'funding', 'available', $2)`,
      values: [id, balanceMicros],
    });
    await test.database.query({
      text: `insert into file_usage (account_id, files, bytes, metered_at, closed_on, api_key_id)
        values ($1, 1, $2, now() - interval '36 hours', (now() at time zone 'utc')::date - 1, $3)`,
      values: [id, mib * MIB, `key_${id}`],
    });
    return id;
  }
  const nextDay = (): Promise<unknown> =>
    test.database.query({
      text: `update file_usage set closed_on = closed_on - 1, metered_at = metered_at - interval '1 day'`,
    });
  const records = async (id: string) =>
    (
      await test.database.query<{ amount: bigint; owed: bigint; lines: Record<string, unknown>[] }>({
        text: `select amount_micros as amount, owed_micros as owed, lines from usage_record
          where account_id = $1 and model = 'file-storage' order by created_at`,
        values: [id],
      })
    ).rows;
  async function expectExact(): Promise<void> {
    expect((await new ReconciliationService(test.database).run())?.findings).toEqual([]);
  }

  it('is zero while no price is set, also for that time later', async () => {
    const id = await keeper('free', 1_000, 10n ** 9n);
    await chargeAll();
    await test.database.query({
      text: `insert into price (id, model, unit, amount_micros, per_quantity, effective_from, created_by)
        values ('price_s', 'file-storage', 'storage_mb_day', $1, $2, now() - interval '1 day', 'test')`,
      values: [PRICE.amount, PRICE.per],
    });
    await chargeAll();
    expect(await records(id)).toEqual([]);
  });
  it("is that of the account's price list, which may make it free or be the only one to charge", async () => {
    const rule = (list: string, amount: bigint) =>
      test.database.query({
        text: `with list as (insert into price_list (id, name, created_by) values ($1, $1, 'test') returning id)
          insert into price_list_rule (id, list_id, model, unit, amount_micros, per_quantity, effective_from, created_by)
          select 'rule_' || id, id, 'file-storage', 'storage_mb_day', $2, $3, now(), 'test' from list`,
        values: [list, amount, PRICE.per],
      });
    const assign = (id: string, list: string) =>
      test.database.query({
        text: `insert into account_price_list (account_id, list_id, effective_from, created_by) values ($1, $2, now(), 'test')`,
        values: [id, list],
      });
    await rule('twice', 2n * PRICE.amount);
    await rule('gift', 0n);
    for (const [id, list] of [
      ['of-list', 'twice'],
      ['given', 'gift'],
    ] as const)
      await assign(await keeper(id, 1_024, 10n ** 9n), list);
    await chargeAll();
    const line = expect.objectContaining({ price_list: 'twice', price_rule: 'rule_twice' });
    expect(await records('of-list')).toEqual([expect.objectContaining({ amount: 300_000n, lines: [line] })]);
    expect(await records('given')).toEqual([]);
    await test.database.query({ text: `update price set withdrawn_at = now() where model = 'file-storage'` });
    await nextDay();
    const unlisted = await keeper('unlisted', 1_024, 10n ** 9n);
    await chargeAll();
    await test.database.query({ text: `update price set withdrawn_at = null where model = 'file-storage'` });
    expect((await records('of-list')).map(({ amount }) => amount)).toEqual([300_000n, 200_000n]);
    expect(await records(unlisted)).toEqual([]);
    await expectExact();
  });
  it('is that of what is made of them to search them, too, for as long as it lies', async () => {
    const id = await keeper('searched', 2, 10n ** 9n);
    // What is removed within the day lay until then.
    for (const bytes of [4 * MIB, 0]) {
      await test.database.query({
        text: `with gone as (delete from file_index where account_id = $1)
          insert into file_index (file_id, account_id, chunk_tokens, overlap_tokens, state, index_bytes)
          values (null, $1, 800, 400, 'failed', $2)`,
        values: [id, bytes],
      });
      if (bytes > 0)
        await test.database.query({
          text: `update file_usage set metered_at = now() - interval '12 hours' where account_id = $1`,
          values: [id],
        });
    }
    await chargeAll();
    // Two for a day and a half, four for half a day, and two for that half day.
    expect((await records(id)).map(({ lines }) => lines[0]?.['quantity'])).toEqual([3 + 2 + 1]);
    await expectExact();
  });

  it('is that of stored responses, too, charged to the key that stored last where no file was uploaded', async () => {
    const id = await keeper('talker', 0, 10n ** 9n);
    await test.database.query({ text: 'delete from file_usage where account_id = $1', values: [id] });
    await test.database.query({
      text: `insert into text_response (account_id, id, response, input_items, kept_bytes, api_key_id, expires_at)
        values ($1, 'resp_1', '{}', '[]', $2, $3, now())`,
      values: [id, 3 * MIB, `key_${id}`],
    });
    // Stored while another process changed the row: counted with the day.
    await test.database.query({
      text: 'insert into text_bytes_change (account_id, bytes) values ($1, $2)',
      values: [id, 5 * MIB],
    });
    await nextDay();
    await chargeAll();
    await nextDay();
    await chargeAll();
    expect((await records(id)).map(({ lines }) => lines[0]?.['quantity'])).toEqual([3, 8]);
    await expectExact();
  });

  it('is charged once a day, held first, and explained in a line that shows the calculation', async () => {
    const id = await keeper('payer', 2_048, 10n ** 9n);
    await Promise.all([chargeAll(), chargeAll()]);
    const [record, ...others] = await records(id);
    expect(others).toEqual([]);
    // 2,048 MiB for a day and a half.
    expect(record?.amount).toBe(300_000n);
    expect(record?.lines).toEqual([
      expect.objectContaining({
        unit: 'storage_mb_day',
        quantity: 3_072,
        per_quantity: '1024',
        amount_micros: '300000',
      }),
    ]);
    const { rows } = await test.database.query<{ kind: string; amount: bigint }>({
      text: `select kind, amount_micros as amount from ledger_entry where account_id = $1 and request_id is not null order by id`,
      values: [id],
    });
    expect(rows).toEqual([
      { kind: 'hold', amount: 300_000n },
      { kind: 'capture', amount: 300_000n },
    ]);
    await nextDay();
    await chargeAll();
    expect((await records(id)).map(({ amount }) => amount)).toEqual([300_000n, 200_000n]);
    await expectExact();
  });

  it('is charged once by the process that continues after a crash between the charge and its note', async () => {
    const id = await keeper('crashed', 1_024, 10n ** 9n);
    const dying = new RequestLedger(test.database);
    const capture = dying.capture.bind(dying);
    dying.capture = async (order) => {
      await capture(order);
      throw new Error('died');
    };
    await die(dying);
    await chargeAll();
    expect((await records(id)).map(({ amount }) => amount)).toEqual([150_000n]);
    await expectExact();
  });

  /** The process dies when it has held, before it charges. */
  async function dieBehindTheHold(): Promise<void> {
    const dying = new RequestLedger(test.database);
    dying.capture = () => Promise.reject(new Error('died'));
    await die(dying);
  }

  it('is charged when the hold of a process that died was given back before another one continues', async () => {
    const id = await keeper('released', 1_024, 10n ** 9n);
    await dieBehindTheHold();
    await test.database.query({ text: 'update request_hold set expires_at = now()' });
    expect(await ledger.releaseAbandoned()).toBe(1);
    await chargeAll();
    await chargeAll();
    expect((await records(id)).map(({ amount }) => amount)).toEqual([150_000n]);
    await expectExact();
  });

  it('is still due where the account has no price for a while, and charged when it has one again', async () => {
    const id = await keeper('given-later', 1_024, 10n ** 9n);
    await dieBehindTheHold();
    await test.database.query({
      text: `insert into account_price_list (account_id, list_id, effective_from, created_by) values ($1, 'gift', now(), 'test')`,
      values: [id],
    });
    await chargeAll();
    expect(await records(id)).toEqual([]);
    await test.database.query({ text: 'delete from account_price_list where account_id = $1', values: [id] });
    await nextDay();
    await chargeAll();
    expect((await records(id)).map(({ amount }) => amount)).toEqual([150_000n]);
    await nextDay();
    await chargeAll();
    expect((await records(id)).map(({ amount }) => amount)).toEqual([150_000n, 200_000n]);
    await expectExact();
  });

  it('becomes a debt where the balance does not cover it', async () => {
    const id = await keeper('poor', 1_024, 1_000n);
    await chargeAll();
    expect((await records(id)).map(({ amount, owed }) => [amount, owed])).toEqual([[150_000n, 149_000n]]);
    await expectExact();
  });

  it.each([
    ['', ''],
    [' to an account that is in debt by then', 'update account set owed_micros = 7 where id = $1'],
    [' to an account that is disabled by then', 'update account set disabled_at = now() where id = $1'],
  ])(
    'is charged once%s by the process that continues after a crash between the hold and the charge',
    async (...row) => {
      const [what, text] = row;
      const id = await keeper(`held${what}`, 1_024, 10n ** 9n);
      await dieBehindTheHold();
      if (text !== '') await test.database.query({ text, values: [id] });
      await chargeAll();
      await chargeAll();
      expect((await records(id)).map(({ amount }) => amount)).toEqual([150_000n]);
      const { rows } = await test.database.query<{ held: bigint }>({
        text: 'select held_micros as held from account where id = $1',
        values: [id],
      });
      expect(rows).toEqual([{ held: 0n }]);
    },
  );

  // Nothing new may begin with any of these, but what lay has been used.
  it.each([
    ['in debt', `update account set owed_micros = 7 where id = $1`],
    ['disabled', `update account set disabled_at = now() where id = $1`],
    ['over its own limit', `update account set daily_limit_micros = 1 where id = $1`],
    ['whose key has used up its quota', `update api_key set quota_micros = 5, used_micros = 5 where account_id = $1`],
    ['whose key was revoked', `update api_key set revoked_at = now() where account_id = $1`],
  ])('is charged day by day to an account %s', async (what, text) => {
    const id = await keeper(`keeper ${what}`, 1_024, 1_000n);
    await test.database.query({ text, values: [id] });
    await chargeAll();
    await nextDay();
    await chargeAll();
    expect((await records(id)).map(({ amount }) => amount)).toEqual([150_000n, 100_000n]);
    const { rows } = await test.database.query<{ due: bigint; owed: bigint; available: bigint }>({
      text: `select due_mb_days as due, owed_micros as owed, available_micros as available
        from file_usage join account on account.id = account_id where account_id = $1`,
      values: [id],
    });
    expect(rows).toEqual([{ due: 0n, owed: expect.any(BigInt), available: 0n }]);
  });

  it('refuses new files of an account without balance, unless it is unlimited', async () => {
    const config = readProcessConfig({});
    const place = { dataDirectory: tmpdir(), publicBaseUrl: () => 'http://127.0.0.1' };
    const store = await createMediaStore(new MediaStoreConfig(), place);
    const files = new FilesService(test.database, noFailpoints, { config, store }, new PriceBook(test.database));
    const begin = async (id: string): Promise<string> =>
      (await files.begin({ accountId: id, apiKeyId: `key_${id}` })).id;
    expect(await begin(await keeper('wealthy', 1, 1_000n))).toMatch(/^file/);
    const id = await keeper('empty', 1, 0n);
    await expect(begin(id)).rejects.toMatchObject({ code: 'insufficient_balance' });
    await test.database.query({ text: 'update account set unlimited = true where id = $1', values: [id] });
    expect(await begin(id)).toMatch(/^file/);
    await store.close();
  });

  it('is set like every price, for a thousand and more units', () => {
    const price = { model: 'file-storage', unit: 'storage_mb_day', amount: '0.1', per_quantity: 1_024 };
    const read = (entry: object) => checkPrices({ effective_from: '2026-12-01', prices: [entry] });
    expect(read(price).mistakes).toEqual([]);
    expect(read(price).prices).toMatchObject([{ amountMicros: PRICE.amount, perQuantity: PRICE.per }]);
    expect(read({ ...price, unit: 'input_token' }).mistakes).toHaveLength(1);
    expect(read({ ...price, model: 'vendor-5' }).mistakes).toHaveLength(1);
  });

  it('is charged to the others while one account cannot be charged, which is passed over and shown to operators', async () => {
    const stuck = await keeper('aaa_stuck', 1_024, 10n ** 9n);
    const other = await keeper('zzz_other', 1_024, 10n ** 9n);
    await test.database.query({
      text: `update file_usage set closed_on = closed_on - 3 where account_id = $1`,
      values: [stuck],
    });
    await test.database.query({
      text: `create function refuse_storage() returns trigger language plpgsql as $$ begin raise 'no storage'; end $$;
        create trigger no_storage before update on file_usage for each row
          when (new.account_id = '${stuck}') execute function refuse_storage()`,
    });
    await chargeAll();
    expect(await records(other)).toMatchObject([{ amount: 150_000n }]);
    const { rows } = await test.database.query({
      text: `select job, subject_id, failures, reason from paused_work where resumes_at > now()`,
    });
    expect(rows).toEqual([{ job: 'file-storage', subject_id: stuck, failures: 1, reason: 'no storage' }]);
    await test.database.query({
      text: 'drop trigger no_storage on file_usage; update paused_work set resumes_at = now()',
    });
    await chargeAll();
    expect(await records(stuck)).toHaveLength(1);
  });
});
