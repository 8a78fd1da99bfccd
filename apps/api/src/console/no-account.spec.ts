import { CONSOLE_ACCESS, type ConsoleApi, permissionsOf } from '#contracts';
import { type ConsoleClient, consoleClient } from '../../../../tests/harness/console-client.js';
import { consoleLinks } from '../../../../tests/harness/console-link.js';
import { startTestGateway, type TestGateway } from '../../../../tests/harness/test-gateway.js';

/** What an owner may call, but for the person's own settings and the list of models, which need no account. */
const ROUTES = (Object.keys(CONSOLE_ACCESS) as (keyof ConsoleApi)[]).filter((route) => {
  const permissions: readonly string[] = permissionsOf('owner');
  return permissions.includes(CONSOLE_ACCESS[route].needs) && !/ \/(session|profile|passkeys|models$)/.test(route);
});

const ADMIN_TOKEN = 'an-admin-token-for-tests';
const IMAGE = { model: 'eta-image-2.0', size: '1:1', resolution: '1K' };

describe('The console of an account that was disabled', () => {
  let gateway: TestGateway;
  let owner: ConsoleClient;
  let taskId: string;
  /** The next part of a stream of a task. */
  let next: () => Promise<string>;

  beforeAll(async () => {
    gateway = await startTestGateway({ environment: { ADMIN_TOKEN } });
    const links = await consoleLinks(gateway);
    owner = consoleClient(gateway);
    await owner.call('POST /sign-in/link', { code: new URL(await links.next()).hash.replace('#code=', '') });
    await links.close();
    const { body } = await owner.call('POST /runs', { ...IMAGE, prompt: '[sandbox:hang] a secret sequel' });
    taskId = body.task_id;
    const stream = await fetch(`${gateway.baseUrl}/console/api/tasks/events?ids=${taskId}`, {
      headers: { cookie: owner.cookie },
    });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    next = async () => (await reader?.read())?.value ?? '';
    for (let told = await next(); !told.includes('in_progress');) told += await next();
    await gateway.database.query({
      text: 'update account set disabled_at = now() where id = $1',
      values: [gateway.accountId],
    });
  });
  afterAll(() => gateway.stop());

  it('tells nothing more in a stream that was opened before', async () => {
    const operator = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const { status } = await gateway.send('POST', `/admin/v1/tasks/${taskId}/cancel`, {}, operator);
    expect(status).toBe(200);
    let rest = '';
    for (let part = await next(); part !== ''; part = await next()) rest += part;
    expect(rest).not.toMatch(/"cancellation":\{|"status":"cancelled"/);
    expect(rest).toMatch(/event: failure\n/);
  });

  it.each(ROUTES)('answers its owner that there is nothing to see or do: %s', async (route) => {
    const path = route.split(' ')[1]?.replaceAll(/:\w+/g, 'x_1');
    const { status } = await owner.call(route, {}, path);
    expect([400, 404]).toContain(status);
  });
});
