import { Database, DatabaseConfig } from '#platform';
import { createTestDatabase, type TestDatabase } from '#testing';
import type { RequestHold } from '../billing/ledger/request-hold.js';
import { RequestLedger } from '../billing/ledger/request-ledger.js';
import type { RequestUsage } from '../billing/ledger/request-usage.js';
import { type Attempt, type Beginning, IdempotencyService } from './idempotency.service.js';

const USAGE: RequestUsage = {
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

describe('Two attempts at one request', () => {
  let test: TestDatabase;
  let ledger: RequestLedger;
  let service: IdempotencyService;
  let number = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    ledger = new RequestLedger(test.database);
    service = new IdempotencyService(test.database, ledger);
    await run(`insert into account (id, name, available_micros) values ('acct', 'acct', 1000)`);
    await run(
      `insert into api_key (id, account_id, name, prefix, key_hash) values ('key', 'acct', 'k', 'sk', decode('00', 'hex'))`,
    );
  });
  beforeEach(() => run(`update account set available_micros = 1000, held_micros = 0, used_micros = 0`));
  afterAll(() => test.remove());

  const run = async <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
    (await test.database.query<Row>({ text, values })).rows;
  const begin = (key: string | null, accountId = 'acct'): Promise<Beginning> =>
    service
      .name({ accountId, key, path: '/v1/responses', body: 'body', requestId: `req_${++number}` })
      .then((named) => service.begin(named));
  const stall = (key: string) => run('update idempotency_record set locked_until = now() where key = $1', key);
  const holdOf = ({ requestId }: Attempt): RequestHold => ({
    accountId: 'acct',
    apiKeyId: 'key',
    requestId,
    amountMicros: 100n,
  });
  const capture = ({ requestId }: Attempt) =>
    ledger.capture({ requestId, chargeMicros: 40n, heldMicros: 100n, usage: USAGE });
  const books = async () =>
    (
      await run<{ books: bigint[] }>(
        `select array[available_micros, held_micros, used_micros] books from account where id = 'acct'`,
      )
    )[0]?.books;

  /** The first stalls for longer than its right lasts, and the second takes over. */
  async function stalledAndTakenOver(key: string): Promise<[stalled: Attempt, second: Attempt]> {
    const stalled = expectAttempt(await begin(key));
    await ledger.hold(holdOf(stalled));
    await stall(key);
    return [stalled, expectAttempt(await begin(key))];
  }

  it('begin, and get the answer that is kept, on the share of their account: repeats without end delay no other', async () => {
    await run(
      `insert into account (id, name) values ('acct_busy', 'busy'), ('acct_other', 'other') on conflict do nothing`,
    );
    const patience = Object.assign(new DatabaseConfig(), { DATABASE_CONNECT_TIMEOUT_SECONDS: 60 });
    const database = new Database(test.url, patience);
    const patient = new IdempotencyService(database, ledger);
    const repeat = async (accountId: string, key: string): Promise<Beginning> =>
      patient.begin(
        await patient.name({ accountId, key, path: '/v1/responses', body: 'body', requestId: `req_${++number}` }),
      );
    const first = expectAttempt(await repeat('acct_busy', 'kept'));
    await patient.finish(first, 200, 'application/json', '{}');
    let free = (): void => undefined;
    const freed = new Promise<void>((resolve) => (free = resolve));
    // More than its share: what comes after them waits until they are over.
    const busy = Promise.all(Array.from({ length: 12 }, () => database.of('acct_busy').transaction(() => freed)));
    const order: string[] = [];
    const begun = async (accountId: string, key: string): Promise<void> => {
      const { kind } = await repeat(accountId, key);
      order.push(`${accountId} ${kind}`);
    };
    const waiting = [begun('acct_busy', 'kept'), begun('acct_busy', 'new')];
    for (let others = 0; others < 5; others += 1) await begun('acct_other', `other-${others}`);
    free();
    await Promise.all([busy, ...waiting]);
    expect(order.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => 'acct_other work'));
    expect(order.slice(5).toSorted()).toEqual(['acct_busy replay', 'acct_busy work']);
    await database.close();
  });

  it('are known for 15 minutes by their key, and for one without, while the account has 100,000 others', async () => {
    await run(`insert into account (id, name) values ('acct_full', 'full')`);
    await run(`insert into idempotency_record (account_id, key, fingerprint, request_id, locked_until, expires_at)
      select 'acct_full', 'before-' || nth, decode('00', 'hex'), 'req', now(), now() + interval '1 day'
      from generate_series(1, 100000) as nth`);
    for (let begun = 0; begun < 1_000; begun += 50)
      await Promise.all(Array.from({ length: 50 }, (_, nth) => begin(`flood-${begun + nth}`, 'acct_full')));
    await Promise.all([begin('late', 'acct_full'), begin(null, 'acct_full'), begin('of-another')]);
    const kept = await run<{
      minutes: number;
    }>(`select round(extract(epoch from expires_at - created_at) / 60)::integer as minutes
      from idempotency_record where key in ('late', 'of-another') or key like ' %' order by 1`);
    expect(kept.map(({ minutes }) => minutes)).toEqual([1, 15, 24 * 60]);
  });

  it('are not forgotten while the first is at work, however long that takes', async () => {
    const first = expectAttempt(await begin('slow'));
    await run(`update idempotency_record set expires_at = now() where key = 'slow'`);
    await service.renew(first);
    await expect(begin('slow')).rejects.toMatchObject({ code: 'idempotency_in_flight' });
  });

  it('keep long answers up to 256 MiB of an account, and refuse the repeat of one that is not kept', async () => {
    const answer = async (key: string, length: number): Promise<void> => {
      await service.finish(expectAttempt(await begin(key)), 200, 'text/plain', 'x'.repeat(length));
    };
    const counted = async (): Promise<number | undefined> =>
      (
        await run<{ bytes: number }>(`select repeat_bytes::integer as bytes from file_usage where account_id = 'acct'`)
      )[0]?.bytes;
    await answer('long-1', 20_000);
    await answer('long-2', 30_000);
    await answer('short-1', 1_000);
    expect(await counted()).toBe(50_000);
    await run(`update file_usage set repeat_bytes = 256 * 1024 * 1024`);
    await answer('long-3', 20_000);
    await answer('short-2', 1_000);
    for (const key of ['long-1', 'short-1', 'short-2']) expect(await begin(key)).toMatchObject({ kind: 'replay' });
    await expect(begin('long-3')).rejects.toMatchObject({ code: 'conflict' });
    await run(`update file_usage set repeat_bytes = 50000`);
    await run(`update idempotency_record set expires_at = now() where key = 'long-1'`);
    await answer('long-1', 100);
    await run(`delete from idempotency_record where key = 'long-2'`);
    expect(await counted()).toBe(0);
  });

  it('charge once: the stalled one has lost its hold, and the one that took over is charged', async () => {
    const [stalled, second] = await stalledAndTakenOver('pays-once');
    expect(await books()).toEqual([1_000n, 0n, 0n]);
    await ledger.hold(holdOf(second));
    expect(await ledger.release(stalled.requestId, { ...USAGE, status: 'failed' })).toBe(false);
    expect(await books()).toEqual([900n, 100n, 0n]);
    expect(await capture(second)).toEqual({ paidMicros: 40n, owedMicros: 0n });
    expect(await capture(stalled)).toBeNull();
    expect(await books()).toEqual([960n, 0n, 40n]);
  });

  it('leave the record to the one that took over, whatever the stalled one does later', async () => {
    const [stalled, second] = await stalledAndTakenOver('fenced');
    await service.forget(stalled);
    await service.unlock(stalled);
    await service.finish(stalled, 200, 'application/json', 'of the stalled one');
    await expect(begin('fenced')).rejects.toMatchObject({ code: 'idempotency_in_flight' });
    await service.finish(second, 200, 'application/json', 'of the second');
    await service.forget(stalled);
    expect(await begin('fenced')).toMatchObject({ kind: 'replay', answer: { body: 'of the second' } });
  });

  it('charge once when the first was charged before it died', async () => {
    const first = expectAttempt(await begin('paid-before'));
    await ledger.hold(holdOf(first));
    await capture(first);
    for (let died = 0; died < 2; died += 1) {
      await stall('paid-before');
      const next = expectAttempt(await begin('paid-before'));
      await ledger.hold(holdOf(next));
      expect(await capture(next)).toBeNull();
    }
    expect(await books()).toEqual([960n, 0n, 40n]);
  });

  it('write into one task', async () => {
    const [stalled, second] = await stalledAndTakenOver('one-task');
    expect(second.taskId).toBe(stalled.taskId);
    expect([stalled.resumed, second.resumed]).toEqual([false, true]);
  });

  it('are never three: of many repeats when the first stalls, one takes over', async () => {
    await begin('one-heir');
    await stall('one-heir');
    const heirs = await Promise.allSettled(Array.from({ length: 8 }, () => begin('one-heir')));
    expect(heirs.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

function expectAttempt(beginning: Beginning): Attempt {
  if (beginning.kind === 'replay') throw new Error('an answer was replayed where work was expected');
  return beginning.attempt;
}
