import { ControllableClock, createTestDatabase, type TestDatabase } from '#testing';
import { IdempotencyService } from '../../idempotency/idempotency.service.js';
import { HoldingProcess, HoldingProcesses } from './holding-processes.js';
import { ReconciliationService } from './reconciliation.service.js';
import type { RequestHold, UnheldCapture } from './request-hold.js';
import { RequestLedger } from './request-ledger.js';
import type { RequestUsage } from './request-usage.js';
import { ReservationLedger } from './reservation-ledger.js';

const ANSWERED: RequestUsage = {
  model: 'vendor-5',
  upstream: 'sandbox',
  status: 'completed',
  lines: [],
  inputTokens: 12,
  cachedInputTokens: 0,
  outputTokens: 30,
  reasoningTokens: 0,
  durationMs: 800,
};

describe('The money of a process that dies', () => {
  let test: TestDatabase;
  let process: HoldingProcess;
  let ledger: RequestLedger;
  let number = 0;
  const clock = new ControllableClock();
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  beforeEach(() => {
    process = new HoldingProcess(test.database);
    ledger = new RequestLedger(test.database, process);
  });
  afterEach(() => process.stop());
  afterAll(() => test.remove());

  const run = async <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
    (await test.database.query<Row>({ text, values })).rows;

  async function payer(availableMicros: bigint): Promise<RequestHold> {
    const accountId = `acct_${++number}`;
    await run(
      `with funded as (insert into account (id, name, available_micros) values ($1, $1, $2)
        ), entered as (insert into ledger_entry (account_id, kind, debit, credit, amount_micros)
          select $1, 'top_up', 'funding', 'available', $2)
       insert into api_key (id, account_id, name, prefix, key_hash) values ($3, $1, 'k', 'sk', $4)`,
      accountId,
      availableMicros,
      `key_${accountId}`,
      Buffer.from(accountId),
    );
    return { accountId, apiKeyId: `key_${accountId}`, requestId: `req_${accountId}`, amountMicros: 300n };
  }

  const books = async ({ accountId }: RequestHold): Promise<bigint[] | undefined> =>
    (
      await run<{ books: bigint[] }>(
        'select array[available_micros, held_micros, used_micros, owed_micros] as books from account where id = $1',
        accountId,
      )
    )[0]?.books;

  /** One look a second for so many seconds, then what was found dead at the last. */
  async function watch(processes: HoldingProcesses, seconds: number): Promise<string[]> {
    let dead: string[] = [];
    for (let second = 0; second <= seconds; second += 1) {
      if (second > 0) clock.advance(1_000);
      dead = await processes.dead();
    }
    return dead;
  }

  async function die(): Promise<void> {
    await run(`insert into holding_process (id) values ($1) on conflict (id) do nothing`, process.id);
  }

  it('is free within seconds, a hold and a reservation alike', async () => {
    const hold = await payer(100_000n);
    await die();
    await ledger.hold(hold);
    const reservations = new ReservationLedger(test.database, process);
    await reservations.open({ ...hold, wantedMicros: 500n, leastMicros: 1n });
    expect(await books(hold)).toEqual([99_200n, 800n, 0n, 0n]);
    const dead = await watch(new HoldingProcesses(test.database, clock), 6);
    expect(dead).toContain(process.id);
    expect(await ledger.releaseAbandoned(dead)).toBe(1);
    expect(await reservations.closeAbandoned(dead)).toBe(1);
    expect(await books(hold)).toEqual([100_000n, 0n, 0n, 0n]);
  });

  it('stays held while the process says that it lives', async () => {
    const processes = new HoldingProcesses(test.database, clock);
    for (let second = 0; second < 20; second += 1) {
      await process.onModuleInit();
      await process.stop();
      await run('update holding_process set seen_at = now() where id = $1', process.id);
      expect(await watch(processes, 1)).not.toContain(process.id);
    }
  });

  it('stays held by all when the database was away for all', async () => {
    await die();
    const processes = new HoldingProcesses(test.database, clock);
    await watch(processes, 3);
    clock.advance(60_000);
    expect(await watch(processes, 5)).not.toContain(process.id);
  });

  it('is free at once when it ended in good order', async () => {
    await die();
    await process.stop();
    const hold = await payer(1_000n);
    await ledger.hold(hold);
    const dead = await new HoldingProcesses(test.database, clock).dead();
    expect(dead).toContain(process.id);
    expect(await ledger.releaseAbandoned(dead)).toBe(1);
  });

  it('stays held as long as before for a process of an older version, which has no name', async () => {
    const hold = await payer(1_000n);
    const old = new RequestLedger(test.database);
    await old.hold(hold);
    await die();
    expect(await old.releaseAbandoned(await watch(new HoldingProcesses(test.database, clock), 6))).toBe(0);
    expect(await old.releaseLost(hold.requestId)).toBe(true);
  });

  describe('that was only slow', () => {
    async function freed(availableMicros: bigint): Promise<UnheldCapture & RequestHold> {
      const hold = await payer(availableMicros);
      await ledger.hold(hold);
      expect(await ledger.releaseAbandoned([process.id])).toBe(1);
      return { ...hold, chargeMicros: 200n, usage: ANSWERED };
    }
    /** As often and as much at once as a settlement that is repeated. */
    const charge = (capture: UnheldCapture): Promise<unknown> =>
      Promise.all(Array.from({ length: 3 }, () => ledger.captureUnheld(capture)));

    it.each(['completed', 'failed', 'cancelled'] as const)('is charged once for what is %s', async (status) => {
      const capture = await freed(1_000n);
      expect(await ledger.capture({ ...capture, heldMicros: 300n })).toBeNull();
      await charge({ ...capture, usage: { ...ANSWERED, status } });
      await charge({ ...capture, usage: { ...ANSWERED, status } });
      expect(await books(capture)).toEqual([800n, 0n, 200n, 0n]);
      const paid = await run(
        'select 1 from usage_record where request_id = $1 and amount_micros > 0',
        capture.requestId,
      );
      expect(paid).toHaveLength(1);
    });

    it('is charged as a debt where the money was spent meanwhile', async () => {
      const capture = await freed(300n);
      await ledger.hold({ ...capture, requestId: `${capture.requestId}_next`, amountMicros: 250n });
      await charge(capture);
      expect(await books(capture)).toEqual([0n, 250n, 200n, 150n]);
      await ledger.releaseLost(`${capture.requestId}_next`);
    });

    it('is charged nothing more when its first charge was written before its hold was found gone', async () => {
      const hold = await payer(1_000n);
      await ledger.hold(hold);
      const capture = { ...hold, chargeMicros: 200n, usage: { ...ANSWERED, status: 'failed' as const } };
      await ledger.capture({ ...capture, heldMicros: 300n });
      await charge(capture);
      expect(await books(hold)).toEqual([800n, 0n, 200n, 0n]);
    });

    it.each([false, true])('is charged once with a repeat of the request, taken over: %s', async (isTakenOver) => {
      const service = new IdempotencyService(test.database, ledger);
      const hold = await payer(1_000n);
      const request = { ...hold, key: 'again', path: '/p', body: 'b' };
      await service.begin(await service.name(request));
      const idempotencyKey = request.key;
      await ledger.hold({ ...hold, idempotencyKey });
      await ledger.releaseAbandoned([process.id]);
      if (isTakenOver) {
        await run('update idempotency_record set locked_until = now() where account_id = $1', hold.accountId);
        const heir = { ...hold, requestId: `${hold.requestId}_heir` };
        await service.begin(await service.name({ ...request, ...heir }));
        await ledger.hold({ ...heir, idempotencyKey });
        await ledger.capture({ ...heir, chargeMicros: 200n, heldMicros: 300n, usage: ANSWERED });
      }
      await charge({ ...hold, idempotencyKey, chargeMicros: 200n, usage: ANSWERED });
      expect(await books(hold)).toEqual([800n, 0n, 200n, 0n]);
      // It goes on answering, and no repeat takes over any more.
      const repeat = await service.begin(await service.name(request)).catch((error: unknown) => error);
      expect(repeat).toMatchObject({ code: 'idempotency_in_flight' });
    });
  });

  it('leaves books that balance', async () => {
    expect((await new ReconciliationService(test.database).run({ full: true }))?.findings).toEqual([]);
  });
});
