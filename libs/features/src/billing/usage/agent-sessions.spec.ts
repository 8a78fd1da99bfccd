import { createTestDatabase, type TestDatabase } from '#testing';
import { type AgentSession, AgentSessionsService } from './agent-sessions.service.js';
import { UsageService } from './usage.service.js';

const DAY_MS = 86_400_000;
const dayAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

describe('Sessions of agents', () => {
  let test: TestDatabase;
  let sessions: AgentSessionsService;
  beforeAll(async () => {
    test = await createTestDatabase();
    sessions = new AgentSessionsService(test.database);
    // Twenty sessions whose requests lie between each other, over some days, each name in two accounts; and requests of no session.
    await write(
      `select 'usage_' || n, now() - n * interval '7 minutes', case when n % 3 = 0 then 'acct_2' else 'acct' end,
        'session-' || n % 20, case when n % 7 < 3 then 'main' else 'helper' end from generate_series(1, 600) n`,
    );
    await write(
      `select 'alone_' || n, now() - n * interval '5 minutes', 'acct', null, null from generate_series(1, 50) n`,
    );
  });
  afterAll(() => test.remove());

  const write = (rows: string) =>
    test.database.query({
      text: `insert into usage_record (id, created_at, account_id, session, agent, api_key_id, kind, model, request_id, upstream,
          status, amount_micros, lines, input_tokens, cached_input_tokens, output_tokens)
        select r.*, 'key', 'text', 'model-' || length(r.id) % 2, 'req_' || r.id, 'vendor',
          'completed', 10, '[]', 100, 60, 5 from (${rows}) as r(id, at, account, session, agent)`,
    });
  const days = { from: dayAgo(6), to: dayAgo(0) };
  const query = { ...days, accountId: 'acct', text: null };

  async function allPages<Item>(
    read: (cursor: string | null) => Promise<{ items: readonly Item[]; nextCursor: string | null }>,
    between: () => Promise<unknown> = () => Promise.resolve(),
  ): Promise<Item[]> {
    const found: Item[] = [];
    for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
      const page = await read(cursor);
      found.push(...page.items);
      cursor = page.nextCursor;
      await between();
    }
    return found;
  }

  it('are listed once each, newest first, and come to what their records do, also while requests arrive', async () => {
    const usage = new UsageService(test.database);
    const records = (await allPages((cursor) => usage.records(query, { limit: 100, cursor }))).filter(
      ({ session }) => session !== null,
    );
    let arrived = 0;
    const found = await allPages<AgentSession>(
      (cursor) => sessions.list(query, { limit: 7, cursor }),
      () => write(`select 'late_${(arrived += 1)}', clock_timestamp(), 'acct', 'session-19', 'main'`),
    );
    expect(new Set(found.map(({ session }) => session)).size).toBe(found.length);
    expect(found.map(({ time }) => time)).toEqual(found.map(({ time }) => time).toSorted((a, b) => (a < b ? 1 : -1)));
    const sums = Object.fromEntries(found.map((each) => [each.session, Number(each['requests'])]));
    const expected: Record<string, number> = {};
    for (const session of records.map((record) => record['session'] as string))
      expected[session] = (expected[session] ?? 0) + 1;
    expect(sums).toEqual(expected);
    expect(found[0]).toMatchObject({ agents: 2n, models: ['model-0', 'model-1'] });
    const requests = found[0]?.['requests'] as bigint;
    expect(found[0]).toMatchObject({ cached_input_tokens: 60n * requests, amount_micros: 10n * requests });
  });

  it('of one name in two accounts are two, and are found by a part of the name', async () => {
    const all = { ...query, accountId: null, text: 'SESSION-3' };
    const found = await sessions.list(all, { limit: 50, cursor: null });
    const names = found.items.map(({ account_id: account, session }) => [account, session].join(' ')).toSorted();
    expect(names).toEqual(['acct session-3', 'acct_2 session-3']);
    expect((await sessions.list({ ...query, text: 'nothing' }, { limit: 50, cursor: null })).items).toEqual([]);
  });

  it('show their requests in order, page by page, those of no other account among them', async () => {
    const of = { ...days, accountId: 'acct_2', session: 'session-0' };
    const requests = await allPages((cursor) => sessions.requests(of, { limit: 4, cursor }));
    expect(requests).toHaveLength(10);
    expect(requests.map(({ time }) => time)).toEqual(requests.map(({ time }) => time).toSorted());
    expect(requests[0]).toMatchObject({ upstream: 'vendor', account_id: 'acct_2', agent: 'helper' });
  });
});
