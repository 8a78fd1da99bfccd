import { createTestDatabase, type TestDatabase } from '#testing';
import { LedgerService } from './ledger.service.js';
import { ReconciliationService } from './reconciliation.service.js';
import { RequestLedger } from './request-ledger.js';

describe('Reconciling the entries since the last proof', () => {
  let test: TestDatabase;
  let reconciliation: ReconciliationService;
  let requests: RequestLedger;
  let number = 0;
  beforeEach(async () => {
    test = await createTestDatabase();
    reconciliation = new ReconciliationService(test.database);
    requests = new RequestLedger(test.database);
    await run(`insert into account (id, name) values ('acct', 'a'), ('idle', 'i')`);
    await run(`insert into api_key (id, account_id, name, prefix, key_hash) values ('key', 'acct', 'k', 'sk', 'k')`);
    await topUp('acct');
  });
  afterEach(() => test.remove());

  const run = async <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
    (await test.database.query<Row>({ text, values })).rows;
  const topUp = (accountId: string) =>
    new LedgerService(test.database).topUp({ accountId, amountMicros: 1_000n, reference: `r${++number}`, note: null });

  async function request(): Promise<void> {
    const requestId = `req_${++number}`;
    await requests.hold({ accountId: 'acct', apiKeyId: 'key', requestId, amountMicros: 10n });
    const usage = {
      model: 'm',
      upstream: null,
      status: 'completed',
      lines: [],
      inputTokens: 1,
      cachedInputTokens: 0,
      outputTokens: 1,
      reasoningTokens: 0,
      durationMs: 1,
    } as const;
    await requests.capture({ requestId, chargeMicros: 4n, heldMicros: 10n, usage });
  }

  /** Changes the ledger as only the owner of the tables can. */
  async function forge(text: string): Promise<void> {
    await run('alter table ledger_entry disable trigger ledger_entry_append_only');
    await run(text);
    await run('alter table ledger_entry enable trigger ledger_entry_append_only');
  }

  /** Two full runs: the first sees the last entry, the second finds it settled and sums up to it. */
  async function proved(): Promise<void> {
    await request();
    for (let runs = 0; runs < 2; runs += 1) {
      expect(await reconciliation.run()).toMatchObject({ balanced: true, full: true });
    }
  }

  it('reads only new entries once the older ones are proved, and reports that', async () => {
    await proved();
    expect(await reconciliation.run()).toMatchObject({ balanced: true, full: false, counts: { entries: '0' } });
    await request();
    await topUp('idle');
    // The first sees them, the second finds them settled, and the third need not read them any more.
    for (const entries of ['4', '4', '0']) {
      expect(await reconciliation.run()).toMatchObject({ balanced: true, full: false, counts: { entries } });
    }
    expect(await reconciliation.run({ full: true })).toMatchObject({ full: true, counts: { entries: '8' } });
  });

  it.each([
    ['account_balances', `update account set available_micros = available_micros + 1 where id = 'acct'`],
    ['account_balances', `update account set available_micros = 1 where id = 'idle'`],
    ['key_balances', `update api_key set used_micros = used_micros + 1`],
    ['open_holds', `update account set held_micros = held_micros + 1 where id = 'idle'`],
    ['request_holds', `delete from request_hold where request_id like 'new%'`],
    ['request_holds', `delete from request_hold where request_id like 'old%'`],
    ['daily_sums', `update usage_daily set amount_micros = amount_micros + 1`],
  ])('finds a mismatch in %s without reading old entries', async (check, damage) => {
    const open = (requestId: string) =>
      requests.hold({ accountId: 'acct', apiKeyId: 'key', requestId, amountMicros: 5n });
    await open(`old_${++number}`);
    await proved();
    await open(`new_${++number}`);
    await run(damage);
    const report = await reconciliation.run();
    expect(report).toMatchObject({ balanced: false, full: false });
    expect(report?.findings.map((finding) => finding.check)).toContain(check);
  });

  it('finds an old forged entry when it reads everything, and keeps finding it until it is fixed', async () => {
    await proved();
    await forge(`update ledger_entry set amount_micros = amount_micros + 1 where kind = 'top_up'`);
    expect(await reconciliation.run()).toMatchObject({ balanced: true, full: false });
    const finding = { check: 'account_balances', subject: 'acct' };
    expect(await reconciliation.run({ full: true })).toMatchObject({ balanced: false, findings: [finding] });
    expect(await reconciliation.run()).toMatchObject({ balanced: false, full: true, findings: [finding] });
    await forge(`update ledger_entry set amount_micros = amount_micros - 1 where kind = 'top_up'`);
    expect(await reconciliation.run()).toMatchObject({ balanced: true, full: true });
    expect(await reconciliation.run()).toMatchObject({ balanced: true, full: false });
  });

  it('reads everything again after a week', async () => {
    await proved();
    await run(`update reconciliation_report set started_at = started_at - interval '8 days'`);
    expect(await reconciliation.run()).toMatchObject({ full: true });
    expect(await reconciliation.run()).toMatchObject({ full: false });
  });

  it('misses no entry whose transaction began before the last proof and commits after it', async () => {
    await proved();
    await test.database.transaction(async (late) => {
      await late.query({
        text: `with entered as (insert into ledger_entry (account_id, kind, debit, credit, amount_micros, reference)
          values ('acct', 'top_up', 'funding', 'available', 7, 'late'))
          update account set available_micros = available_micros + 7 where id = 'acct'`,
      });
      await topUp('idle');
      for (let runs = 0; runs < 3; runs += 1) {
        expect(await reconciliation.run()).toMatchObject({ balanced: true, full: false, counts: { entries: '1' } });
      }
    });
    expect(await reconciliation.run()).toMatchObject({ balanced: true, full: false, counts: { entries: '2' } });
    expect(await reconciliation.run()).toMatchObject({ balanced: true, full: false, counts: { entries: '0' } });
  });

  it('runs once when several replicas begin at the same time', async () => {
    const reports = await Promise.all([1, 2, 3].map(() => reconciliation.run()));
    const kept = await reconciliation.latest(10);
    expect(reports.filter((report) => report !== null)).toHaveLength(kept.length);
    expect(kept.every(({ balanced }) => balanced)).toBe(true);
  });

  it('proves the sums of closed days when it reads everything', async () => {
    await request();
    await run(`update usage_daily set day = day - 1`);
    await run(`insert into usage_closed_day select day from usage_daily`);
    const checks = (await reconciliation.run())?.findings.map(
      ({ check, subject }) => `${check} ${subject.split(' ')[0]}`,
    );
    expect(checks).toEqual(
      ['usage_daily_by_model', 'usage_daily_by_account', 'usage_daily_by_key'].map((table) => `closed_days ${table}`),
    );
  });
});
