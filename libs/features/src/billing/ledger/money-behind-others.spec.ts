import { createTestDatabase, type TestDatabase, untilBlocked } from '#testing';
import { collectDebts } from './locked-account.js';
import { LedgerService } from './ledger.service.js';
import { RequestLedger } from './request-ledger.js';
import type { RequestUsage } from './request-usage.js';
import { ReservationLedger } from './reservation-ledger.js';

const ANSWERED: RequestUsage = {
  model: 'vendor-5',
  upstream: 'sandbox',
  status: 'completed',
  lines: [],
  inputTokens: 1,
  cachedInputTokens: 0,
  outputTokens: 1,
  reasoningTokens: 0,
  durationMs: 1,
};

interface Payer {
  readonly accountId: string;
  readonly apiKeyId: string;
}

/** Postgres checks constraints and conditions also on the row as a statement first saw it, which is not the one that it changes. */
describe('Money that moves behind another statement of its account', () => {
  let test: TestDatabase;
  let ledger: RequestLedger;
  let number = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    ledger = new RequestLedger(test.database);
  });
  afterAll(() => test.remove());

  const run = (text: string, ...values: unknown[]) => test.database.query<Record<string, bigint>>({ text, values });

  async function payer(availableMicros: bigint): Promise<Payer> {
    const accountId = `acct_${++number}`;
    const apiKeyId = `key_${accountId}`;
    await run('insert into account (id, name, available_micros) values ($1, $1, $2)', accountId, availableMicros);
    await run(
      `insert into api_key (id, account_id, name, prefix, key_hash) values ($1, $2, 'k', 'sk', $3)`,
      apiKeyId,
      accountId,
      Buffer.from(accountId),
    );
    return { accountId, apiKeyId };
  }

  const request = (amountMicros: bigint) => ({ requestId: `req_${++number}`, amountMicros });
  const ended = (requestId: string, chargeMicros: bigint, heldMicros = 0n) => ({
    requestId,
    chargeMicros,
    heldMicros,
    usage: ANSWERED,
  });

  /** Asks while a change of the account is not committed yet, so that what it asks for waits behind that. */
  async function behind<Result>({ accountId }: Payer, change: string, ask: () => Promise<Result>): Promise<Result> {
    const asked = await test.database.transaction(async (other) => {
      await other.query({ text: `update account set ${change} where id = $1`, values: [accountId] });
      const waiting = ask();
      await untilBlocked(test.database);
      return { waiting };
    });
    return asked.waiting;
  }

  it.each([
    ['balance', 'update account set available_micros = $2 where id = $1'],
    ["account's limit of the day", 'update account set daily_limit_micros = $2 where id = $1'],
    ["key's limit of the day", 'update api_key set daily_limit_micros = $2 where account_id = $1'],
    ["key's quota", 'update api_key set quota_micros = $2 where account_id = $1'],
  ])('is held of what a settlement left of the %s', async (_what, limit) => {
    const { accountId, apiKeyId } = await payer(100_000n);
    await run(limit, accountId, 1_500n);
    const first = request(1_000n);
    await ledger.hold({ accountId, apiKeyId, ...first });
    const second = await test.database.transaction(async (other) => {
      await other.query({ text: 'select from account where id = $1 for no key update', values: [accountId] });
      const settlement = ledger.capture(ended(first.requestId, 100n, 1_000n));
      await untilBlocked(test.database);
      const waiting = ledger.hold({ accountId, apiKeyId, ...request(1_000n) });
      await untilBlocked(test.database, 2);
      return { waiting, settlement };
    });
    await second.settlement;
    expect(await second.waiting).toBe(1_000n);
    await expect(ledger.hold({ accountId, apiKeyId, ...request(1_000n) })).rejects.toMatchObject({ status: 402 });
  });

  it('is charged beyond its hold to what came in', async () => {
    const payers = await payer(1_000n);
    const first = request(1_000n);
    await ledger.hold({ ...payers, ...first });
    const settled = await behind(payers, 'available_micros = available_micros + 500', () =>
      ledger.capture(ended(first.requestId, 1_500n, 1_000n)),
    );
    expect(settled).toEqual({ paidMicros: 1_500n, owedMicros: 0n });
  });

  it('is charged to what came in where nothing is held', async () => {
    const payers = await payer(0n);
    const settled = await behind(payers, 'available_micros = available_micros + 500', () =>
      ledger.captureUnheld({ ...payers, ...ended(request(0n).requestId, 400n) }),
    );
    expect(settled).toEqual({ paidMicros: 400n, owedMicros: 0n });
  });

  it('is reserved of what came in', async () => {
    const payers = await payer(0n);
    const reservation = await behind(payers, 'available_micros = available_micros + 100000', () =>
      new ReservationLedger(test.database).open({ ...payers, wantedMicros: 1_000n, leastMicros: 100n }),
    );
    expect(reservation).toMatchObject({ amountMicros: 1_000n });
  });

  it('pays a debt that grew', async () => {
    const payers = await payer(1_000n);
    await run('update account set owed_micros = 100 where id = $1', payers.accountId);
    const owed = await behind(payers, 'owed_micros = owed_micros + 500', () =>
      collectDebts(test.database, payers.accountId),
    );
    expect(owed).toBe(0n);
  });

  it('comes in and pays a debt that grew', async () => {
    const payers = await payer(0n);
    const isNew = await behind(payers, 'owed_micros = owed_micros + 500', () =>
      new LedgerService(test.database).topUp({
        accountId: payers.accountId,
        amountMicros: 800n,
        reference: 'r',
        note: null,
      }),
    );
    expect(isNew).toBe(true);
    const { rows } = await run(
      'select available_micros as left, owed_micros as owed from account where id = $1',
      payers.accountId,
    );
    expect(rows).toEqual([{ left: 300n, owed: 0n }]);
  });

  it('is held when it came back between the refusal and its answer', async () => {
    const payers = await payer(1_000n);
    const first = request(1_000n);
    await ledger.hold({ ...payers, ...first });
    const elsewhere = new RequestLedger(test.database);
    const settlement = async (): Promise<boolean> => {
      await elsewhere.capture(ended(first.requestId, 100n, 1_000n));
      return false;
    };
    expect(await ledger.hold({ ...payers, ...request(900n) }, settlement)).toBe(900n);
  });
});
