import { CONSOLE_ACCESS, type ConsoleApi, MODEL_IDS, parseMicros } from '#contracts';
import { eventually } from '#testing';
import { type ConsoleClient, consoleClient, OWN_PAGE } from '../../../../tests/harness/console-client.js';
import { startTestGateway, TEST_KEY, type TestGateway } from '../../../../tests/harness/test-gateway.js';
import { createApi } from '../create-api.js';
import { consoleLink } from '../seed.js';

const IMAGE = { model: 'eta-image-2.0', prompt: 'a lighthouse at dusk', size: '1:1', resolution: '1K' };

/** What no entry may be explained by. */
const NO_LINE = { price_id: 'none', unit_price: '0', quantity: 0, amount: '-1' };

describe('The data and actions of the console', () => {
  let gateway: TestGateway;
  let owner: ConsoleClient;
  beforeAll(async () => {
    gateway = await startTestGateway();
    const api = await createApi(gateway.platform);
    await api.init();
    const code = new URL(await consoleLink(api, gateway.baseUrl)).hash.replace('#code=', '');
    await api.close();
    owner = consoleClient(gateway);
    await owner.call('POST /sign-in/link', { code });
  });
  afterAll(() => gateway.stop());

  const run = async (body: object): Promise<string> => (await owner.call('POST /runs', body)).body.task_id;
  const read = async (id: string) => (await owner.call('GET /tasks/:task_id', {}, `/tasks/${id}`)).body;
  const ended = (id: string) => eventually(async () => ((await read(id)).is_final ? read(id) : null));

  it('quotes a request before it runs, and names the field for which it would be refused', async () => {
    const { body: good } = await owner.call('POST /quote', IMAGE);
    expect([good.problems, good.quote?.quantity, good.quote?.per]).toEqual([[], 1, 'image']);
    const refused = await owner.call('POST /quote', { ...IMAGE, resolution: '99K' });
    expect([refused.status, refused.body.quote, refused.body.problems.map(({ field }) => field)]).toEqual([
      200,
      null,
      ['resolution'],
    ]);
    const unknown = await owner.call('POST /quote', { model: 'no-such-model' });
    expect(unknown.body.problems[0]?.code).toBe('model_not_found');
  });

  it('charges a run to the key of the console exactly as quoted, and explains each entry', async () => {
    const { body: quoted } = await owner.call('POST /quote', IMAGE);
    const before = (await owner.call('GET /billing')).body;
    const task = await ended(await run(IMAGE));
    expect([task.status, task.amount, task.key.name, task.prompt]).toEqual([
      'completed',
      quoted.quote?.amount,
      'Console',
      IMAGE.prompt,
    ]);
    expect(task.request).toMatchObject(IMAGE);
    expect(task.files[0]?.url).toContain('/files/');
    expect(task.timeline.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['submitted', 'held', 'captured', 'completed']),
    );
    const after = (await owner.call('GET /billing')).body;
    const spent = parseMicros(before.available) - parseMicros(after.available);
    expect(spent).toBe(parseMicros(task.amount));
    const captured = task.entries.find(({ kind }) => kind === 'capture');
    const { body: entry } = await owner.call('GET /billing/entries/:entry_id', {}, `/billing/entries/${captured?.id}`);
    const [line = NO_LINE] = entry.entry.usage?.lines ?? [];
    expect(entry.related.map(({ kind }) => kind)).toEqual(['hold', 'capture']);
    expect(entry.prices.map(({ id }) => id)).toEqual([line.price_id]);
    expect(parseMicros(line.unit_price ?? '0') * BigInt(line.quantity)).toBe(parseMicros(line.amount));
  });

  it('takes so many changes a day of an account, each of which leaves a record for a year, and lets a key be revoked even so', async () => {
    await gateway.database.query({ text: 'update console_user set operator_role = null' });
    const change = () => owner.call('POST /billing/notice', { low_balance: null });
    const { key } = (await owner.call('POST /keys', { name: 'leaks' })).body;
    expect((await change()).status).toBe(200);
    const { rows } = await gateway.database.query({
      text: `update rate_count set points = 999 where key like '%account-changes:%' returning key`,
    });
    expect(rows).toHaveLength(1);
    expect((await change()).status).toBe(200);
    const refused = await change();
    expect([refused.status, refused.body.error?.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(23 * 3_600);
    const named = await owner.call('POST /keys', { name: 'one more' });
    expect(named.status).toBe(429);
    for (const _time of ['the first', 'again']) {
      const revoked = await owner.call('POST /keys/:key_id/revoke', {}, `/keys/${key.id}/revoke`);
      expect(revoked.status).toBe(200);
    }
    const { rows: records } = await gateway.database.query({
      text: `select 1 from audit_record where action = 'key.revoked' and subject_id = $1`,
      values: [key.id],
    });
    expect(records).toHaveLength(1);
    await gateway.database.query({ text: `update console_user set operator_role = 'operator'` });
    expect((await change()).status).toBe(200);
    await gateway.database.query({ text: 'delete from rate_count' });
  });

  it('creates one task for a double click', async () => {
    const click = async () => {
      const answer = await fetch(`${gateway.baseUrl}/console/api/runs`, {
        method: 'POST',
        headers: { ...OWN_PAGE, cookie: owner.cookie, 'idempotency-key': 'one-click' },
        body: JSON.stringify(IMAGE),
      });
      return (await answer.json()) as { task_id: string };
    };
    const first = await click();
    expect(await click()).toEqual(first);
  });

  it('finds tasks by state, model, key, day and words, a page at a time', async () => {
    const done = await ended(await run({ ...IMAGE, prompt: 'A Red_Bicycle, 100% red' }));
    await ended(await run({ ...IMAGE, prompt: 'a blue bicycle [sandbox:fail=content_policy]' }));
    const found = async (query: string) =>
      (await owner.call('GET /tasks', {}, `/tasks?${query}`)).body.items.map(({ id }) => id);
    expect(await found('text=red_bicycle')).toEqual([done.id]);
    expect(await found('text=100%25+red')).toEqual([done.id]);
    expect(await found('text=redxbicycle')).toEqual([]);
    expect(await found('status=completed&model=eta-image-2.0&limit=1')).toEqual([done.id]);
    expect(await found(`key_id=${done.key.id}&status=failed`)).toHaveLength(1);
    expect(await found('to=2001-01-01')).toEqual([]);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const path: string = `/tasks?limit=2${cursor && `&cursor=${cursor}`}`;
      const { body } = await owner.call('GET /tasks', {}, path);
      seen.push(...body.items.map(({ id }) => id));
      cursor = body.next_cursor;
    }
    expect(seen).toEqual(await found('limit=100'));
    expect((await owner.call('GET /tasks', {}, '/tasks?status=done')).body.error?.field).toBe('status');
  });

  it('follows open tasks in one stream until all of them have ended', async () => {
    const ids = await Promise.all([run(IMAGE), run(IMAGE)]);
    const { text } = await owner.call('GET /tasks/events', {}, `/tasks/events?ids=${ids.join(',')}`);
    const events = text
      .match(/(?<=event: task\ndata: ).*/g)
      ?.map((line) => JSON.parse(line) as { id: string; status: string });
    for (const id of ids) expect(events?.findLast((task) => task.id === id)?.status).toBe('completed');
    expect(text.endsWith('event: end\ndata: {}\n\n')).toBe(true);
  });

  it('tells nothing more in a stream once the session that opened it is over', async () => {
    const { body: invited } = await owner.call('POST /people/invitations', { role: 'developer' });
    const code = new URL(invited.link).hash.replace('#invitation=', '');
    const leaver = consoleClient(gateway);
    const person = { code, name: 'Leaver', email: 'leaver@example.com', password: 'correct horse battery' };
    const { body: session } = await leaver.call('POST /sign-in/invitation', person);
    const id = await run({ ...IMAGE, prompt: '[sandbox:hang] a secret sequel' });
    const stream = await fetch(`${gateway.baseUrl}/console/api/tasks/events?ids=${id}`, {
      headers: { cookie: leaver.cookie },
    });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    const next = async (): Promise<string> => (await reader?.read())?.value ?? '';
    for (let told = await next(); !told.includes('in_progress');) told += await next();
    await owner.call('POST /people/:user_id/remove', {}, `/people/${session.user?.id}/remove`);
    await owner.call('POST /tasks/:task_id/cancel', {}, `/tasks/${id}/cancel`);
    let rest = '';
    for (let part = await next(); part !== ''; part = await next()) rest += part;
    // What came before the removal may still be read; nothing of the cancellation after it.
    expect(rest).not.toMatch(/"cancellation":\{|"status":"cancelled"/);
    expect(rest).toMatch(/event: failure\ndata: .*"sign_in_required"/);
  });

  it('shows the same amounts on every page: overview, usage, its CSV and the ledger', async () => {
    const usage = (await owner.call('GET /usage')).body;
    const overview = (await owner.call('GET /overview')).body;
    const csv = (await owner.call('GET /usage/records', {}, '/usage/records?format=csv')).text;
    const [header = '', ...rows] = csv.trim().split('\n');
    expect(header.split(',')).toContain('amount');
    expect(rows).toHaveLength(usage.total.requests);
    const records = (await owner.call('GET /usage/records')).body.items;
    const sum = records.reduce((total, { amount }) => total + parseMicros(amount), 0n);
    expect([parseMicros(usage.total.amount), parseMicros(overview.spent_7_days)]).toEqual([sum, sum]);
    expect(overview.checklist).toEqual({ key: true, run: true, webhook: false });
    expect(overview.latest_tasks.length).toBeGreaterThan(2);
  });

  it('shows every model with its form, and streams text to the signed-in user', async () => {
    const { items } = (await owner.call('GET /models')).body;
    const media = items.filter(({ kind }) => kind === 'video' || kind === 'image');
    expect(media.map(({ id }) => id).toSorted()).toEqual(MODEL_IDS.toSorted());
    for (const model of media) expect([model.id, model.fields.length > 2]).toEqual([model.id, true]);
    const text = items.find(({ kind }) => kind === 'text');
    const sent = { model: text?.id, max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }], stream: true };
    const answer = await owner.call('POST /text/messages', sent);
    expect([answer.status, answer.text.includes('event: message_stop')]).toEqual([200, true]);
  });

  it('lets developers see and change only their own keys, whose scopes do not exceed their role', async () => {
    const { body: invited } = await owner.call('POST /people/invitations', { role: 'developer' });
    const code = new URL(invited.link).hash.replace('#invitation=', '');
    const developer = consoleClient(gateway);
    const person = { code, name: 'Dev', email: 'dev@example.com', password: 'correct horse battery' };
    await developer.call('POST /sign-in/invitation', person);
    const { body: theirs } = await owner.call('POST /keys', { name: 'of the owner' });
    const { body: made } = await developer.call('POST /keys', { name: 'of the developer' });
    expect((await developer.call('GET /keys')).body.items.map(({ id }) => id)).toEqual([made.key.id]);
    expect(made.key.scopes).not.toContain('ledger');
    expect(made.key.created_by?.name).toBe('Dev');
    const touched = await developer.call('POST /keys/:key_id/revoke', {}, `/keys/${theirs.key.id}/revoke`);
    expect(touched.status).toBe(404);
    const names = (await owner.call('GET /keys')).body.items.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['Console', 'of the owner', 'of the developer']));
    const console = (await owner.call('GET /keys')).body.items.find(({ kind }) => kind === 'console');
    const revoked = await owner.call('POST /keys/:key_id/revoke', {}, `/keys/${console?.id}/revoke`);
    expect([revoked.status, revoked.body.error?.code]).toEqual([409, 'conflict']);
    const { body: people } = await owner.call('GET /people');
    const dev = people.people.find(({ name }) => name === 'Dev');
    await owner.call('POST /people/:user_id', { role: 'viewer' }, `/people/${dev?.user_id}`);
    expect((await developer.call('GET /session')).status).toBe(401);
  });

  it('keeps an owner in every account, and accepts an invitation once', async () => {
    const { body: people } = await owner.call('GET /people');
    const self = people.people.find(({ is_self }) => is_self);
    const left = await owner.call('POST /people/:user_id/remove', {}, `/people/${self?.user_id}/remove`);
    expect([left.status, left.body.error?.code]).toEqual([409, 'conflict']);
    const credentials = { name: 'Owner', email: 'owner@example.com', password: 'correct horse battery' };
    await owner.call('POST /profile', { email: credentials.email });
    await owner.call('POST /profile/password', { password: credentials.password });
    const { body: invited } = await owner.call('POST /people/invitations', { role: 'viewer' });
    const code = new URL(invited.link).hash.replace('#invitation=', '');
    expect((await consoleClient(gateway).call('POST /sign-in/invitation/preview', { code })).body.role).toBe('viewer');
    const lesser = await consoleClient(gateway).call('POST /sign-in/invitation', { code, ...credentials });
    expect([lesser.status, lesser.body.error?.code]).toEqual([409, 'conflict']);
    expect((await owner.call('GET /session')).body.roles).toContain('owner');
    await owner.call(
      'POST /people/invitations/:invitation_id/withdraw',
      {},
      `/people/invitations/${invited.invitation.id}/withdraw`,
    );
    expect((await consoleClient(gateway).call('POST /sign-in/invitation/preview', { code })).status).toBe(401);
  });

  it('previews a price, adds it for later, tops up once for a reference, and names the actor in the audit', async () => {
    const { per: unit, variant } = (await owner.call('POST /quote', IMAGE)).body.quote ?? {};
    const price = { model: IMAGE.model, unit, variant, amount: '5' };
    const { body: preview } = await owner.call('POST /admin/prices/preview', price);
    expect(parseMicros(preview.repriced)).toBeGreaterThan(parseMicros(preview.charged));
    expect(preview.accounts[0]?.account_id).toBe(gateway.accountId);
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const { body: added } = await owner.call('POST /admin/prices', { ...price, effective_from: later });
    const path = `/admin/accounts/${gateway.accountId}/top-ups`;
    const topUp = { amount: '10', reference: 'invoice-7' };
    const first = await owner.call('POST /admin/accounts/:account_id/top-ups', topUp, path);
    const again = await owner.call('POST /admin/accounts/:account_id/top-ups', topUp, path);
    expect([first.body.replayed, again.body.replayed, again.body.available]).toEqual([
      false,
      true,
      first.body.available,
    ]);
    const { body: audit } = await owner.call('GET /admin/audit', {}, `/admin/audit?subject_id=${added.id}`);
    expect(audit.items.map(({ actor, action }) => [actor, action])).toEqual([
      [(await owner.call('GET /session')).body.user?.id, 'price.added'],
    ]);
    const { body: overview } = await owner.call('GET /admin/overview');
    expect(overview.upstreams).toBe((await owner.call('GET /admin/upstreams')).body.items.length);
    expect((await gateway.send('GET', '/v1/models', undefined, { authorization: `Bearer ${TEST_KEY}` })).status).toBe(
      200,
    );
  });

  it('answers every list with names of fields as contracts write them, whatever services call them', async () => {
    expect((await owner.call('POST /admin/reconciliations', {})).status).toBe(200);
    const lists = (Object.keys(CONSOLE_ACCESS) as (keyof ConsoleApi)[]).filter((route) => /^GET [^:]*$/.test(route));
    const streamed = new Set<keyof ConsoleApi>(['GET /tasks/events']);
    const found: string[] = [];
    for (const route of lists.filter((each) => !streamed.has(each))) {
      const body: object = (await owner.call(route)).body ?? {};
      const [item = {}] = 'items' in body && Array.isArray(body.items) ? (body.items as object[]) : [];
      const names = [...Object.keys(body), ...Object.keys(item)];
      found.push(...names.filter((name) => /[a-z][A-Z]/.test(name)).map((name) => `${route}: ${name}`));
    }
    expect(lists.length).toBeGreaterThan(30);
    expect(found).toEqual([]);
  });
});
