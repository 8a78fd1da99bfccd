import { timeOrderedId } from '#platform';
import { createTestDatabase, type TestDatabase } from '#testing';
import { UsageService } from '../usage/usage.service.js';
import { RequestLedger } from './request-ledger.js';
import type { RequestUsage } from './request-usage.js';

const BALANCE = 1_000_000_000n;
const today = new Date().toISOString().slice(0, 10);

const usage = (tags: readonly string[]): RequestUsage => ({
  model: 'vendor-5',
  upstream: 'vendor',
  status: 'completed',
  lines: [],
  inputTokens: 1,
  cachedInputTokens: 0,
  outputTokens: 2,
  reasoningTokens: 0,
  durationMs: 1,
  attribution: { tags },
});

describe('Tags', () => {
  let test: TestDatabase;
  let ledger: RequestLedger;
  beforeEach(async () => {
    test = await createTestDatabase();
    ledger = new RequestLedger(test.database);
    await run('insert into account (id, name, available_micros) values ($1, $1, $2)', 'acct', BALANCE);
    await run(
      `insert into ledger_entry (account_id, kind, debit, credit, amount_micros) values ('acct', 'top_up', 'funding', 'available', $1)`,
      BALANCE,
    );
    await run(`insert into api_key (id, account_id, name, prefix, key_hash) values ('key', 'acct', 'k', 'sk', 'hash')`);
  });
  afterEach(async () => {
    ledger.onModuleDestroy();
    await test.remove();
  });

  const run = (text: string, ...values: unknown[]) => test.database.query({ text, values });
  const hold = (amountMicros: bigint, limitedTags?: readonly string[]) => {
    const requestId = timeOrderedId('req');
    const order = { accountId: 'acct', apiKeyId: 'key', requestId, amountMicros, limitedTags };
    return ledger.hold(order).then(() => requestId);
  };
  const limit = (tag: string, dailyMicros: bigint | null, monthlyMicros: bigint | null = null) =>
    run('insert into tag_limit values ($1, $2, $3, $4)', 'acct', tag, dailyMicros, monthlyMicros);

  it('of an account have sums of their own up to a thousand, and one for the rest, however many requests end together', async () => {
    const tags = Array.from({ length: 2_000 }, (_, index) => `tag-${index}`);
    const requests = Array.from({ length: 250 }, (_, index) => tags.slice(8 * index, 8 * index + 8));
    await Promise.all(
      requests.map(async (tagged) => {
        const requestId = await hold(100n);
        await ledger.capture({ requestId, chargeMicros: 10n, heldMicros: 100n, usage: usage(tagged) });
      }),
    );
    const query = { accountId: 'acct', from: today, to: today };
    const sums = await new UsageService(test.database).sums(query, ['tag']);
    expect(sums).toHaveLength(1_001);
    // One request counts once for the rest, however many of its tags have no place.
    const other = sums.find(({ tag }) => tag === 'other');
    expect(other?.requests).toBe(125n);
    expect(sums.filter(({ requests: times, tag }) => tag !== 'other' && times === 1n)).toHaveLength(1_000);
    const { items } = await new UsageService(test.database).records(
      { ...query, tag: 'tag-1999' },
      { limit: 9, cursor: null },
    );
    expect(items).toHaveLength(1);
  });

  it('with a limit of the day refuse the hold beyond it, also of many at once, and say which tag and when it begins anew', async () => {
    await limit('run', 500n);
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => hold(100n, ['run'])));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    const refusal = { code: 'spend_limit_reached', message: expect.stringContaining('the tag "run"') as string };
    expect(refusals).toEqual(Array.from({ length: 7 }, () => expect.objectContaining(refusal) as object));
    await expect(hold(100n)).resolves.toBeDefined();
  });

  it('count what was charged against their limits, and let go of what was not', async () => {
    await limit('run', null, 1_000n);
    const first = await hold(900n, ['run']);
    await expect(hold(200n, ['run'])).rejects.toMatchObject({ code: 'spend_limit_reached' });
    await ledger.capture({ requestId: first, chargeMicros: 300n, heldMicros: 900n, usage: usage(['run']) });
    const second = await hold(700n, ['run', 'unlimited']);
    await ledger.capture({ requestId: second, chargeMicros: 700n, heldMicros: 700n, usage: usage(['run']) });
    await expect(hold(1n, ['run'])).rejects.toMatchObject({ code: 'spend_limit_reached' });
    await run('update usage_daily_by_tag set day = day - 40');
    await expect(hold(1_000n, ['run'])).resolves.toBeDefined();
  });
});
