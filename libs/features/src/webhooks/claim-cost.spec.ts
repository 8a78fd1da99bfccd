import { createTestDatabase, type TestDatabase } from '#testing';
import { CLAIM_DELIVERIES, MAKE_READY } from './webhook-statements.js';

const CLAIM_VALUES = [200, 60_000, 20, 40, '', [], [], [], [], 150, 4, 3, 100_800];

/** Receivers that did not answer lately: their deliveries wait until tomorrow. */
const ADD_WAITING = `
insert into webhook_delivery (id, account_id, event_type, url, payload, attempts, ready, next_attempt_at)
select 'w' || n, 'acct_' || n % $2, 'task.completed', 'http://h' || n || '.example/hook', '{}', 3, false,
  now() + interval '1 day' from generate_series($3::integer, $1::integer) as n`;
const ADD_FAILED = `
insert into webhook_receiver (account_id, receiver, failures, cooling_until)
select 'acct_' || n % $2, 'h' || n || '.example', 3, now() + interval '10 minutes'
from generate_series($3::integer, $1::integer) as n`;
const ADD_READY = `
insert into webhook_delivery (id, account_id, event_type, url, payload, next_attempt_at)
select 'r' || n, 'acct_' || n % $2, 'task.completed', 'http://h' || n || '.example/hook', '{}',
  now() - interval '1 minute' from generate_series(1, $1::integer) as n`;

interface Plan {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}

describe('The cost of claiming webhooks', () => {
  let test: TestDatabase;
  /** It fills tables, which takes longer than anything that a request waits for. */
  const run = (text: string, values: unknown[] = []) => test.database.query({ text, values });
  beforeAll(async () => {
    test = await createTestDatabase();
    await run(`insert into account (id, name) select 'acct_' || n, 'a' from generate_series(0, 5000) as n`);
    await run(`insert into account (id, name) values ('victim', 'v')`);
  });
  afterAll(() => test.remove());

  async function addWaiting(values: readonly number[]): Promise<void> {
    await run(ADD_WAITING, [...values]);
    await run(ADD_FAILED, [...values]);
  }

  /** The pages that a statement touches: unlike its time, they do not depend on what else the machine does. */
  async function pages(text: string, values: unknown[]): Promise<number> {
    const { rows } = await test.database.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>({
      text: `explain (analyze, buffers, timing off, format json) ${text}`,
      values,
    });
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    return (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
  }

  /** Takes one delivery that is due, with all that is around it. */
  async function pagesOfOneTurn(): Promise<number> {
    await run('analyze');
    await run(`insert into webhook_delivery (id, account_id, event_type, url, payload, next_attempt_at)
      values ('v' || gen_random_uuid(), 'victim', 'task.completed', 'http://v.example/hook', '{}', now())`);
    return (await pages(MAKE_READY, [1_000])) + (await pages(CLAIM_DELIVERIES, CLAIM_VALUES));
  }

  it('is the same with 0, 5,000 and 35,000 receivers waiting for their next attempt', async () => {
    const none = await pagesOfOneTurn();
    await addWaiting([5_000, 1, 1]);
    const some = await pagesOfOneTurn();
    await addWaiting([20_000, 1, 5_001]);
    await addWaiting([35_000, 5_000, 20_001]);
    const many = await pagesOfOneTurn();
    // Indexes grow by a level or two; stepping over 35,000 receivers took some 210,000 pages.
    expect(some).toBeLessThan(none + 60);
    expect(many).toBeLessThan(none + 60);
  });

  it('is bounded by the claimed number, however many are ready, for one account or thousands', async () => {
    await run(ADD_READY, [1_000, 1]);
    await run('analyze webhook_delivery');
    const few = await pages(CLAIM_DELIVERIES, CLAIM_VALUES);
    await run(`delete from webhook_delivery where id like 'r%'`);
    await run(ADD_READY, [35_000, 1]);
    await run('vacuum analyze webhook_delivery');
    const many = await pages(CLAIM_DELIVERIES, CLAIM_VALUES);
    expect(many).toBeLessThan(few * 3);
    await run(`delete from webhook_delivery where id like 'r%'`);
    await run(ADD_READY, [35_000, 5_000]);
    await run('vacuum analyze webhook_delivery');
    const accounts = await pages(CLAIM_DELIVERIES, CLAIM_VALUES);
    // Each of 200 calls is of another account, and each account is stepped to.
    expect(accounts).toBeLessThan(200 * 100);
  });
});
