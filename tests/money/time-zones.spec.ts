import { eventually } from '#testing';
import { type AdminGateway, startAdminGateway } from '../harness/admin-gateway.js';
import { type ConsoleClient, consoleClient } from '../harness/console-client.js';
import { consoleLinks } from '../harness/console-link.js';

const TEXT = { model: 'vendor-5', max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] };
/** It is already tomorrow in the one or still yesterday in the other. */
const [AHEAD, BEHIND] = ['Pacific/Kiritimati', 'Pacific/Niue'];
const dayIn = (timeZone: string): string => new Intl.DateTimeFormat('sv-SE', { timeZone }).format();

describe('The time zone of an account', () => {
  let api: AdminGateway;
  let owner: ConsoleClient;
  beforeAll(async () => {
    api = await startAdminGateway();
    const links = await consoleLinks(api.gateway);
    owner = consoleClient(api.gateway);
    await owner.call('POST /sign-in/link', { code: new URL(await links.next()).hash.replace('#code=', '') });
    await links.close();
  });
  afterAll(() => api.gateway.stop());

  it.each([AHEAD, BEHIND])(
    'is that of its usage reports and limits, and what is used keeps its moment: %s',
    async (zone) => {
      const { id } = await api.newAccount({
        unlimited: true,
        time_zone: zone,
        daily_limit: '10',
        monthly_limit: '100',
      });
      const { key } = await api.newKey(id);
      expect((await api.withKey(key, '/v1/chat/completions', 'POST', TEXT)).status).toBe(200);
      const usage = (query: string) =>
        api.withKey<{ data: { day: string; requests: number; amount: string }[]; time_zone: string }>(
          key,
          `/v1/usage?${query}`,
        );
      const [sum] = await eventually(async () => {
        const { body } = await usage('group_by=day');
        expect(body).toMatchObject({ time_zone: zone, currency: 'USD' });
        return body.data.length > 0 && body.data;
      });
      expect([sum?.day, sum?.requests]).toEqual([dayIn(zone), 1]);
      const other = zone === AHEAD ? BEHIND : AHEAD;
      expect((await usage(`group_by=day&from=${dayIn(other)}&to=${dayIn(other)}`)).body.data).toEqual([]);
      const records = await api.withKey<{ data: { time: string; amount: string }[] }>(
        key,
        `/v1/usage/records?from=${dayIn(zone)}&to=${dayIn(zone)}`,
      );
      expect(records.body.data.map(({ amount }) => amount)).toEqual([sum?.amount]);
      expect((await usage('group_by=model&from=2026-01-01&to=2026-12-31')).body.data).toMatchObject([
        { amount: sum?.amount },
      ]);
      const { body } = await api.admin<{ day: string }[]>('GET', `/usage?account_id=${id}&group_by=day`);
      expect(body.data.map(({ day }) => day)).toEqual([dayIn('UTC')]);
    },
  );

  it('is a name that language and database know, and null is UTC', async () => {
    const { id } = await api.newAccount();
    for (const zone of ['+08:00', 'Asia/Nowhere', 'asia/shanghai', 'CET', 'EST', 'MST', 'HST', '', 8])
      expect([zone, (await api.admin('PATCH', `/accounts/${id}`, { time_zone: zone })).body.error]).toEqual([
        zone,
        expect.objectContaining({ code: 'invalid_parameter', param: 'time_zone' }),
      ]);
    const set = async (zone: string | null) =>
      (await api.admin('PATCH', `/accounts/${id}`, { time_zone: zone })).body.data['time_zone'];
    expect([await set('Asia/Shanghai'), await set('UTC'), await set('Asia/Kolkata'), await set(null)]).toEqual([
      'Asia/Shanghai',
      null,
      'Asia/Kolkata',
      null,
    ]);
  });

  it('is set by the people of the account too, unless limits go by its days', async () => {
    const set = (zone: string | null) => owner.call('POST /billing/time-zone', { time_zone: zone });
    expect((await set('Asia/Kolkata')).body.time_zone).toBe('Asia/Kolkata');
    expect((await owner.call('GET /usage')).body).toMatchObject({
      time_zone: 'Asia/Kolkata',
      to: dayIn('Asia/Kolkata'),
    });
    expect((await set('Mars/Base')).body.error?.field).toBe('time_zone');
    await api.admin('PATCH', `/accounts/${api.gateway.accountId}`, { daily_limit: '5' });
    const refused = await set(null);
    expect([refused.status, refused.body.error?.code]).toEqual([409, 'conflict']);
    const [limit] = (await owner.call('GET /billing')).body.limits;
    expect(limit?.resets_at).toMatch(/T18:30:00/);
    await api.admin('PATCH', `/accounts/${api.gateway.accountId}`, { daily_limit: null });
    const keys = [await api.newKey(api.gateway.accountId, { daily_limit: '5' })];
    expect((await set(null)).status).toBe(409);
    keys.push(await api.newKey(api.gateway.accountId, { monthly_limit: '5' }));
    await api.admin('POST', `/keys/${keys[0]!.id}/revoke`);
    expect((await set(null)).status).toBe(409);
    const byOperator = await api.admin('PATCH', `/accounts/${api.gateway.accountId}`, { time_zone: 'Asia/Shanghai' });
    expect(byOperator.body.data['time_zone']).toBe('Asia/Shanghai');
    await api.admin('POST', `/keys/${keys[1]!.id}/revoke`);
    await api.admin('PUT', `/accounts/${api.gateway.accountId}/tag-limits`, {
      limits: [{ tag: 'x', daily_limit: '5' }],
    });
    expect((await set(null)).status).toBe(409);
    await api.admin('PUT', `/accounts/${api.gateway.accountId}/tag-limits`, { limits: [] });
    expect((await set(null)).body.time_zone).toBe('UTC');
  });
});
