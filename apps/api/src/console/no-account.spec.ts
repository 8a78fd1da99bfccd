import { CONSOLE_ACCESS, type ConsoleApi, permissionsOf } from '#contracts';
import { type ConsoleClient, consoleClient } from '../../../gateway/src/testing/console-client.js';
import { consoleLinks } from '../../../gateway/src/testing/console-link.js';
import { startTestGateway, type TestGateway } from '../../../gateway/src/testing/test-gateway.js';

/** What an owner may call, but for the person's own settings and the list of models, which need no account. */
const ROUTES = (Object.keys(CONSOLE_ACCESS) as (keyof ConsoleApi)[]).filter((route) => {
  const permissions: readonly string[] = permissionsOf('owner');
  return permissions.includes(CONSOLE_ACCESS[route].needs) && !/ \/(session|profile|passkeys|models$)/.test(route);
});

describe('The console of an account that was disabled', () => {
  let gateway: TestGateway;
  let owner: ConsoleClient;

  beforeAll(async () => {
    gateway = await startTestGateway();
    const links = await consoleLinks(gateway);
    owner = consoleClient(gateway);
    await owner.call('POST /sign-in/link', { code: new URL(await links.next()).hash.replace('#code=', '') });
    await links.close();
    await gateway.database.query({
      text: 'update account set disabled_at = now() where id = $1',
      values: [gateway.accountId],
    });
  });
  afterAll(() => gateway.stop());

  it.each(ROUTES)('answers its owner that there is nothing to see or do: %s', async (route) => {
    const path = route.split(' ')[1]?.replaceAll(/:\w+/g, 'x_1');
    const { status } = await owner.call(route, {}, path);
    expect([400, 404]).toContain(status);
  });
});
