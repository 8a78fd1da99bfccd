import type { TaskSignals } from '#runtime';
import { createTestDatabase, type TestDatabase } from '#testing';
import { TaskTransitions } from '../task-transitions.js';

const silent: TaskSignals = { publish: () => undefined, subscribe: () => undefined, close: () => Promise.resolve() };

const INTENT = { upstream: 'sandbox', vendorAccount: 'sandbox', ticket: { upstream: 'sandbox', model: 'm' } };

describe('The claim of due tasks', () => {
  let testDatabase: TestDatabase;
  let transitions: TaskTransitions;
  let lastId = 0;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    transitions = new TaskTransitions(testDatabase.database, silent, 'spec', 15_000);
  });
  afterAll(() => testDatabase.remove());
  beforeEach(async () => {
    await testDatabase.database.query({ text: 'truncate account cascade' });
  });

  async function account(id: string, settings: { priority?: number; maxRunning?: number } = {}): Promise<void> {
    const { database } = testDatabase;
    await database.query({
      text: `insert into account (id, name, priority, max_running_tasks) values ($1, 'x', $2, $3)`,
      values: [id, settings.priority ?? 0, settings.maxRunning ?? null],
    });
    await database.query({
      text: `insert into api_key (id, account_id, name, prefix, key_hash) values ('key_' || $1, $1, 'x', 'x', sha256($1::bytea))`,
      values: [id],
    });
  }

  /** Queued tasks of an account, the earliest first; `dueInMs` puts them off. */
  async function queue(accountId: string, count: number, dueInMs = 0): Promise<void> {
    await testDatabase.database.query({
      text: `insert into task (id, account_id, api_key_id, medium, path, family, model, mode, parameters, hold_micros,
          billing_unit, billing_variant, billing_settle, quantity, request_id, deadline_at, lease_until)
        select 'task_' || lpad((n + $3)::text, 26, '0'), $1, 'key_' || $1, 'image', 'p', 'eta', 'eta-image-2.0', 'm', '{}', 0,
          'image', 'default', 'as-held', 1, 'r', now() + interval '1 hour',
          now() + ($4 - 1000 + n) * interval '1 millisecond'
        from generate_series(1, $2) n`,
      values: [accountId, count, lastId, dueInMs],
    });
    lastId += count;
  }

  const claim = async (limit: number): Promise<string[]> =>
    (await transitions.claimDue('image', limit)).map(({ account_id: accountId }) => accountId);

  it('takes the first task of another account before the rest of a long backlog', async () => {
    await account('busy');
    await account('new');
    await queue('busy', 500);
    await claim(4);
    await queue('new', 1);
    expect(await claim(1)).toEqual(['new']);
  });

  it('shares free slots evenly between accounts with a backlog', async () => {
    for (const id of ['a', 'b', 'c', 'd']) {
      await account(id);
      await queue(id, 50);
    }
    const claimed = await claim(8);
    expect(['a', 'b', 'c', 'd'].map((id) => claimed.filter((accountId) => accountId === id).length)).toEqual([
      2, 2, 2, 2,
    ]);
  });

  it('gives an account of a higher tier its greater share', async () => {
    await account('paid', { priority: 2 });
    await account('free');
    await queue('paid', 200);
    await queue('free', 200);
    const claimed: string[] = [];
    for (let turn = 0; turn < 100; turn += 1) claimed.push(...(await claim(1)));
    // Two steps of priority are four times the share: 80 of 100.
    expect(claimed.filter((accountId) => accountId === 'paid')).toHaveLength(80);
  });

  it('leaves tasks over the limit of running tasks queued, and continues with others', async () => {
    await account('limited', { maxRunning: 2 });
    await account('other');
    await queue('limited', 10);
    await queue('other', 3);
    const claimed = [...(await claim(10)), ...(await claim(10))];
    expect(claimed.filter((accountId) => accountId === 'limited')).toHaveLength(2);
    expect(claimed.filter((accountId) => accountId === 'other')).toHaveLength(3);
  });

  it('does not count starts that wait for their deadline, neither for fairness nor for the limit of running tasks', async () => {
    const accounts = Array.from({ length: 40 }, (_, index) => `account-${String(index).padStart(2, '0')}`);
    const unlucky = accounts.slice(0, 10);
    for (const id of accounts) await account(id, unlucky.includes(id) ? { maxRunning: 3 } : {});
    for (const id of unlucky) await queue(id, 2);
    for (const task of await transitions.claimDue('image', 20)) {
      await transitions.recordStartIntent(task, INTENT);
      await transitions.awaitDeadline(task, 'The start was interrupted.');
    }
    for (const id of accounts) await queue(id, 20);
    const served = await claim(30);
    // Chance leaves out ten of them; that it is just these ten happens once in 800 million times.
    expect(served.some((id) => unlucky.includes(id))).toBe(true);
    await testDatabase.database.query({
      text: `update task set state = 'running', lease_until = null where lease_owner is not null`,
    });
    for (let round = 0; round < 5; round += 1) await claim(400);
    const { rows } = await testDatabase.database.query<{ open: bigint }>({
      text: `select count(*) filter (where state = 'running' or lease_owner is not null) as open from task
        where account_id = any($1) group by account_id`,
      values: [unlucky],
    });
    expect(rows.map(({ open }) => open)).toEqual(unlucky.map(() => 3n));
  });

  it('keeps the order of submission within an account', async () => {
    await account('a');
    await queue('a', 20);
    const tasks = await transitions.claimDue('image', 5);
    const { rows } = await testDatabase.database.query<{ id: string }>({
      text: 'select id from task order by id limit 5',
    });
    expect(tasks.map(({ id }) => id).toSorted()).toEqual(rows.map(({ id }) => id));
  });

  it('does not let the backoff of one account hide the due tasks of another', async () => {
    await account('backing-off');
    await account('due');
    await queue('backing-off', 50, 60_000);
    await queue('due', 1);
    expect(await claim(1)).toEqual(['due']);
    expect(await claim(1)).toEqual([]);
  });

  it('gives each task to one worker only, under concurrent claims', async () => {
    await account('a');
    await account('b');
    await queue('a', 30);
    await queue('b', 30);
    const claims = await Promise.all(Array.from({ length: 8 }, () => transitions.claimDue('image', 8)));
    const ids = claims.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(0);
  });

  it('resumes work whose worker went silent, as the next attempt, before anything new', async () => {
    await account('a');
    await queue('a', 1);
    const [first] = await transitions.claimDue('image', 1);
    await testDatabase.database.query({ text: 'update task set lease_until = now()' });
    await queue('a', 5);
    const [again] = await transitions.claimDue('image', 1);
    expect([again?.id, again?.attempt]).toEqual([first?.id, (first?.attempt ?? 0) + 1]);
    if (!first) throw new Error('nothing was claimed');
    expect(await transitions.recordStartIntent(first, INTENT)).toBe('lost');
  });
});
