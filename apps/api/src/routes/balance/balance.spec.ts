import { randomUUID } from 'node:crypto';
import { eventually } from '#testing';
import { startTestGateway, TEST_KEY, type TestGateway } from '../../../../../tests/harness/test-gateway.js';

const PATHS = ['/v1/user/balance', '/user/balance'];
const KEY = { authorization: `Bearer ${TEST_KEY}` };

describe('The balance endpoints', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ workers: false });
  });
  afterAll(() => gateway.stop());

  const run = (text: string) => gateway.database.query({ text });
  const setBalance = (available: bigint, used: bigint, unlimited = false) =>
    run(`update account set available_micros = ${available}, used_micros = ${used}, unlimited = ${unlimited}`);

  async function get(path: string, headers: Record<string, string> = KEY) {
    const answer = await fetch(gateway.baseUrl + path, { headers });
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  }

  describe.each(PATHS)('%s', (path) => {
    it.each([
      [12_340_000n, 5_000_000n, '12.34', '5'],
      [0n, 0n, '0', '0'],
      [1n, 999_999n, '0.000001', '0.999999'],
      [9_007_199_254_740_993n, 9_223_372_036_854_775_807n, '9007199254.740993', '9223372036854.775807'],
    ])('writes %d and %d micros exactly', async (available, used, remain, usedText) => {
      await setBalance(available, used);
      expect(await get(path)).toMatchObject({
        status: 200,
        text: `{"success":true,"remain_balance":${remain},"used_balance":${usedText},"unlimited_quota":false}`,
      });
    });

    it('says -1 when nothing limits the user', async () => {
      await setBalance(-7_000_000n, 9_500_000n, true);
      expect((await get(path)).text).toBe(
        '{"success":true,"remain_balance":-1,"used_balance":9.5,"unlimited_quota":true}',
      );
    });

    it('says that the Authorization header is missing', async () => {
      expect(await get(path, {})).toMatchObject({
        status: 401,
        text: '{"success":false,"message":"无 Authorization 头"}',
      });
    });

    it('says that there is no user behind the key', async () => {
      expect(await get(path, { authorization: 'Bearer sk-unknown' })).toMatchObject({
        status: 401,
        text: '{"success":false,"message":"获取用户额度失败"}',
      });
    });

    it('says that reading the used quota failed', async () => {
      await run('alter table account rename column used_micros to away');
      const answer = await get(path);
      await run('alter table account rename column away to used_micros');
      expect(answer).toMatchObject({ status: 500, text: '{"success":false,"message":"获取已使用额度失败"}' });
    });

    it('can be read by pages of other origins', async () => {
      const preflight = await fetch(gateway.baseUrl + path, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://shop.example',
          'access-control-request-method': 'GET',
          'access-control-request-headers': 'authorization',
        },
      });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization');
      const { headers } = await get(path, { ...KEY, origin: 'https://shop.example' });
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(headers.get('cache-control')).toBe('no-store');
    });
  });

  it('counts charges of all keys as spent, and not the holds of open work', async () => {
    await setBalance(10_000_000n, 0n);
    await gateway.submit('/v1/images/generations', {
      model: 'eta-image-2.0',
      prompt: 'a',
      size: '1:1',
      resolution: '1K',
    });
    expect((await get('/v1/user/balance')).text).toContain('"remain_balance":9.965,"used_balance":0,');
  });

  it('returns the remaining quota of a key, its limit and its expiry', async () => {
    await run(
      "update api_key set quota_micros = 2500000, held_micros = 500000, used_micros = 250000, expires_at = '2126-01-01Z'",
    );
    expect((await get('/v1/balance')).text).toBe(
      '{"success":true,"remain_balance":1.75,"used_balance":0.25,"unlimited_quota":false,"total_quota":2.5,"expires_at":4922899200}',
    );
    await run('update api_key set quota_micros = null, expires_at = null');
    expect((await get('/v1/balance')).text).toBe(
      '{"success":true,"remain_balance":-1,"used_balance":0.25,"unlimited_quota":true,"total_quota":-1,"expires_at":null}',
    );
  });

  it('says when to come again where it refuses for now', async () => {
    const { database } = gateway;
    const ask = () => get('/v1/balance', { authorization: `Bearer sk-unknown-${randomUUID()}` });
    const refused = await database.transaction(async (transaction) => {
      await transaction.query({ text: 'lock table api_key in access exclusive mode' });
      const blocked = async (count: number) => {
        const text = `select 1 from pg_locks where not granted
          and database = (select oid from pg_database where datname = current_database())`;
        return (await database.query({ text })).rows.length >= count;
      };
      // Two look for their keys at once, and the next one waits for either of them.
      for (const count of [1, 2]) {
        void ask();
        await eventually(() => blocked(count));
      }
      return ask();
    });
    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.text)).toEqual({ success: false, message: expect.stringContaining('try again') });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
