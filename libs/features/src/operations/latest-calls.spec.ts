import { GatewayError } from '#contracts';
import { createTestDatabase, type TestDatabase } from '#testing';
import { TextCalls } from '../text/text-calls.js';
import { LatestCalls } from './latest-calls.js';

/** Buckets are a tenth wide. */
const within = (ms: number, expected: number): boolean => ms >= expected && ms <= expected * 1.11 + 1;

describe('Recent calls of text upstreams', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.remove());

  it('are summed over all replicas: failure share, times and the newest failure', async () => {
    const [one, other] = [new TextCalls(test.database), new TextCalls(test.database)];
    for (let call = 0; call < 18; call += 1) (call % 2 ? one : other).ended('vendor', 200);
    one.ended('vendor', 3_000, new GatewayError('overloaded', 'x', { log: 'first' }));
    await one.write();
    other.ended('vendor', 4_000, new GatewayError('upstream_error', 'x', { log: 'answered 500: \0' }));
    other.ended('quiet', 10);
    await other.write();

    const calls = await new LatestCalls(test.database).text();
    const vendor = calls.get('vendor');
    expect(vendor).toMatchObject({ ended: 20, succeeded: 18 });
    expect(within(vendor?.p50_ms ?? 0, 200)).toBe(true);
    expect(within(vendor?.p95_ms ?? 0, 3_000)).toBe(true);
    expect(vendor?.last_error).toMatchObject({ code: 'upstream_error', message: 'answered 500: ' });
    expect(calls.get('quiet')).toMatchObject({ ended: 1, succeeded: 1, last_error: null });
  });

  it('are forgotten after five minutes, and removed later', async () => {
    await test.database.query({ text: `update text_call_minute set minute = now() - interval '6 minutes'` });
    const calls = new LatestCalls(test.database);
    expect((await calls.text()).size).toBe(0);
    await test.database.query({ text: `update text_call_minute set minute = now() - interval '11 minutes'` });
    const counts = new TextCalls(test.database);
    counts.ended('vendor', 5);
    await counts.write();
    const { rows } = await test.database.query({ text: 'select 1 from text_call_minute' });
    expect(rows).toHaveLength(1);
  });
});
