import { createTestDatabase } from '#testing';
import { backoffMs, backoffSql } from './periodic-task.js';

describe('A backoff', () => {
  const failures = [0, 1, 2, 3, 4, 1_000_000];

  it('doubles from the first wait to the longest, after however many failures', () => {
    const waits = failures.map((count) => backoffMs({ firstMs: 100, longestMs: 1_000 }, count));
    expect(waits).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  });

  it('is spread by its part either way, and no further', () => {
    const spread = { firstMs: 1_000, longestMs: 60_000, spread: 0.25 };
    expect([0, 0.5, 1].map((random) => backoffMs(spread, 1, () => random))).toEqual([1_500, 2_000, 2_500]);
  });

  it('means the same in a statement of Postgres', async () => {
    const { database, remove } = await createTestDatabase();
    const backoff = { firstMs: 100, longestMs: 1_000 };
    const waits = failures.map((count) => `extract(epoch from ${backoffSql(backoff, String(count))})::float8 * 1000`);
    const { rows } = await database.query<{ waits: number[] }>({ text: `select array[${waits.join(', ')}] as waits` });
    await remove();
    expect(rows[0]?.waits).toEqual(failures.map((count) => backoffMs(backoff, count)));
  });
});
