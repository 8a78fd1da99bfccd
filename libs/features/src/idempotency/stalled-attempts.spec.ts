import { FakeVendor } from '../tasks/run/testing/fake-vendor.js';
import { openTaskBench, type TaskBench } from '../tasks/run/testing/task-bench.js';
import { RequestLedger } from '../billing/ledger/request-ledger.js';
import { type Attempt, IdempotencyService } from './idempotency.service.js';

const AMOUNT_MICROS = 100n;

describe('An attempt that stalls before any money is held', () => {
  let bench: TaskBench;
  let ledger: RequestLedger;
  let service: IdempotencyService;
  let number = 0;
  beforeAll(async () => {
    bench = await openTaskBench(new FakeVendor());
    ledger = new RequestLedger(bench.database);
    service = new IdempotencyService(bench.database, ledger);
  });
  afterAll(() => bench.close());

  const run = async <Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> =>
    (await bench.database.query<Row>({ text, values })).rows;
  const stall = (key: string) => run('update idempotency_record set locked_until = now() where key = $1', key);
  const heldMicros = async () => (await run<{ held: bigint }>('select held_micros as held from account'))[0]?.held;

  async function begin(key: string): Promise<Attempt> {
    const request = { accountId: 'acct_bench', key, path: '/p', body: 'body', requestId: `req_${++number}` };
    const beginning = await service.begin(await service.name(request));
    if (beginning.kind === 'replay') throw new Error('an answer was replayed where work was expected');
    return beginning.attempt;
  }

  async function stalledAndTakenOver(key: string): Promise<[stalled: Attempt, heir: Attempt]> {
    const stalled = await begin(key);
    await stall(key);
    return [stalled, await begin(key)];
  }

  const hold = ({ requestId, key }: Attempt): Promise<bigint> =>
    ledger.hold({
      accountId: 'acct_bench',
      apiKeyId: 'key_bench',
      requestId,
      idempotencyKey: key,
      amountMicros: AMOUNT_MICROS,
    });
  const submit = ({ requestId, key, taskId }: Attempt): Promise<string> =>
    bench.submit({ id: taskId, requestId, idempotencyKey: key });
  const tasksOf = ({ taskId }: Attempt) => run('select request_id from task where id = $1', taskId);

  it('holds nothing when it resumes after another took over, which holds', async () => {
    const before = await heldMicros();
    const [stalled, heir] = await stalledAndTakenOver('hold');
    await expect(hold(stalled)).rejects.toMatchObject({ code: 'idempotency_in_flight', status: 409 });
    expect(await heldMicros()).toBe(before);
    await hold(heir);
    await expect(hold(stalled)).rejects.toMatchObject({ code: 'idempotency_in_flight' });
    expect(await heldMicros()).toBe((before ?? 0n) + AMOUNT_MICROS);
  });

  it('writes no task when it resumes, neither before nor after the one that took over', async () => {
    const before = await heldMicros();
    const [stalled, heir] = await stalledAndTakenOver('task');
    await expect(submit(stalled)).rejects.toMatchObject({ code: 'idempotency_in_flight', status: 409 });
    expect([await tasksOf(stalled), await heldMicros()]).toEqual([[], before]);
    await submit(heir);
    await expect(submit(stalled)).rejects.toMatchObject({ code: 'idempotency_in_flight' });
    expect(await tasksOf(stalled)).toEqual([{ request_id: heir.requestId }]);
  });

  it('neither holds nor writes when the one that took over was refused and freed the key', async () => {
    const before = await heldMicros();
    const [stalled, heir] = await stalledAndTakenOver('freed');
    await service.forget(heir);
    await expect(hold(stalled)).rejects.toMatchObject({ code: 'idempotency_in_flight' });
    await expect(submit(stalled)).rejects.toMatchObject({ code: 'idempotency_in_flight' });
    expect([await tasksOf(stalled), await heldMicros()]).toEqual([[], before]);
  });

  it('continues when no other attempt has taken over, and keeps others away from then on', async () => {
    const slow = await begin('slow');
    await stall('slow');
    await hold(slow);
    await expect(begin('slow')).rejects.toMatchObject({ code: 'idempotency_in_flight' });
  });

  it('fails none of the requests that share its statement', async () => {
    const [stalled] = await stalledAndTakenOver('together');
    const others = await Promise.all(['other-1', 'other-2', 'other-3'].map(begin));
    const settled = await Promise.allSettled([hold(others[0]!), hold(stalled), ...others.slice(1).map(hold)]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    const [other] = await Promise.all([begin('other-4'), stall('together')]);
    const written = await Promise.allSettled([submit(stalled), submit(other)]);
    expect(written.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });

  it.each([
    ['holds', hold],
    ['writes a task', submit],
  ])('either %s or is taken over, never both, under a race', async (_what, pay) => {
    const outcomes = new Set<string>();
    for (let round = 0; round < 40; round += 1) {
      const key = `meet-${++number}`;
      const stalled = await begin(key);
      await stall(key);
      const early = round % 2 === 0 ? pay(stalled) : undefined;
      const takingOver = begin(key);
      const settled = await Promise.allSettled([early ?? pay(stalled), takingOver]);
      outcomes.add(settled.map(({ status }) => status).join());
    }
    expect([...outcomes].filter((outcome) => !['fulfilled,rejected', 'rejected,fulfilled'].includes(outcome))).toEqual(
      [],
    );
  });
});
