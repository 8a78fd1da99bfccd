import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { consoleClient } from '../harness/console-client.js';
import { spawnApp, type SpawnedProcess, spawnProgram } from '../harness/spawned-process.js';

const KEY = /sk-gw-[\w-]+/;
const READY = /Ctrl-C stops it/;
const WRONG_UPSTREAMS =
  'upstreams:\n  - id: vendor\n    protocol: responses\n    base_url: ftp://vendor\n    models: {}\n';

describe('The first start of a gateway', () => {
  let folder: string;
  let busy: Server;
  let busyPort: number;
  const running: SpawnedProcess[] = [];

  const start = async (environment: Record<string, string>): Promise<SpawnedProcess> => {
    const started = await spawnApp('gateway', { DATA_DIR: join(folder, 'data'), PORT: '0', ...environment });
    running.push(started);
    return started;
  };
  const linesOf = async (environment: Record<string, string>): Promise<string[]> => {
    const started = await start(environment);
    expect(await started.exited()).toBe(1);
    return started.output().trim().split('\n');
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-first-'));
    busy = createServer().listen(0, '127.0.0.1');
    await once(busy, 'listening');
    busyPort = (busy.address() as AddressInfo).port;
  });
  afterAll(async () => {
    for (const process of running) if (process.child.exitCode === null) await process.end('SIGTERM');
    busy.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('stores nothing while its port is not available, and says why in one line', async () => {
    const said = await Promise.all(
      [
        { PORT: String(busyPort) },
        { OPS_PORT: String(busyPort) },
        { HOST: '1.2.3.4' },
        { HOST: 'no.such.host.invalid' },
      ].map((environment) => linesOf(environment)),
    );
    expect(said).toEqual([
      [expect.stringMatching(/^PORT is already in use/)],
      [expect.stringMatching(/^OPS_PORT is already in use/)],
      [expect.stringMatching(/^HOST 1\.2\.3\.4 is not an address of this/)],
      [expect.stringMatching(/^HOST no\.such\.host/)],
    ]);
    expect(existsSync(join(folder, 'data'))).toBe(false);
  });

  it('reports the mistakes of every part at once, and misspelt variables, before it stores anything', async () => {
    const file = join(folder, 'upstreams.yaml');
    await writeFile(file, WRONG_UPSTREAMS);
    const wrong = {
      PORT: 'abc',
      SANDBOX_IMAGE_MS: '-1',
      UPSTREAMS_FILE: file,
      LOG_LEVEL: 'loud',
      TRUSTED_PROXIES: 'nginx',
      DATABSE_URL: 'x',
    };
    expect(await linesOf(wrong)).toEqual([
      `Configuration: ${file}:4: upstreams[0].base_url must be an http or https address without credentials, query or fragment`,
      'Configuration: PORT must be a whole number from 0 to 65535, not "abc"',
      'Configuration: TRUSTED_PROXIES must list addresses (10.0.0.1), blocks (10.0.0.0/8), or loopback, linklocal, uniquelocal, separated by commas, not "nginx"',
      'Configuration: SANDBOX_IMAGE_MS must be a whole number from 0 to 3600000, not "-1"',
      'Configuration: LOG_LEVEL must be one of silent, fatal, error, warn, info, debug, trace, not "loud"',
      'DATABSE_URL is set, but the gateway has no such variable; did you mean DATABASE_URL?',
    ]);
    expect(existsSync(join(folder, 'data'))).toBe(false);
  });

  it.each([['a file'], ['below a file'], ['/proc/generation-gateway']])(
    'ends at once when DATA_DIR is %s',
    async (kind) => {
      const file = join(folder, 'a-file');
      await writeFile(file, '');
      const DATA_DIR = kind === 'a file' ? file : kind === 'below a file' ? join(file, 'data') : kind;
      expect(await linesOf({ DATA_DIR })).toEqual([
        expect.stringMatching(/DATA_DIR .*(is a file, not a folder|failed)/),
      ]);
    },
  );

  it('shows key and admin token after failed starts, and reports a misspelt variable while it runs', async () => {
    const gateway = await start({ PRT: '4' });
    await gateway.waitFor(READY);
    expect(gateway.output()).toMatch(/PRT is set, but the gateway has no such variable; did you mean PORT\?/);
    const [key] = await gateway.waitFor(KEY);
    const [token] = await gateway.waitFor(/admin-[\w-]{32}/);
    const [, url = ''] = await gateway.waitFor(/Base URL +(\S+)/);
    const ask = async (path: string, secret: string): Promise<number> =>
      (await fetch(url + path, { headers: { authorization: `Bearer ${secret}` } })).status;
    expect([await ask('/v1/user/balance', key), await ask('/admin/v1/accounts', token)]).toEqual([200, 200]);

    const environment = { DATA_DIR: join(folder, 'data') };
    const another = await spawnProgram('scripts/new-key.mjs', environment);
    expect(await another.exited()).toBe(0);
    const [newKey = ''] = KEY.exec(another.output()) ?? [];
    expect(await ask('/v1/user/balance', newKey)).toBe(200);
    const renewed = await spawnProgram('scripts/new-admin-token.mjs', environment);
    expect(await renewed.exited()).toBe(0);
    const [newToken = ''] = /admin-[\w-]{32}/.exec(renewed.output()) ?? [];
    expect([await ask('/admin/v1/accounts', newToken), await ask('/admin/v1/accounts', token)]).toEqual([200, 401]);
    const linked = await spawnProgram('scripts/console-link.mjs', environment);
    expect(await linked.exited()).toBe(0);
    const [, code = ''] = /sign-in#code=([\w-]{43})$/m.exec(linked.output()) ?? [];
    expect(await openConsole(url, code)).toEqual(['owner', 'operator']);
    expect(await gateway.end('SIGTERM')).toBe(0);

    const offline = await spawnProgram('scripts/new-key.mjs', environment);
    expect(await offline.exited()).toBe(0);
    const [offlineKey = ''] = KEY.exec(offline.output()) ?? [];
    const again = await start({});
    await again.waitFor(READY);
    expect(again.output()).toContain('lost it? npm run new-key');
    const [, secondUrl = ''] = await again.waitFor(/Base URL +(\S+)/);
    const answer = await fetch(`${secondUrl}/v1/user/balance`, { headers: { authorization: `Bearer ${offlineKey}` } });
    expect(answer.status).toBe(200);
    expect(await again.end('SIGTERM')).toBe(0);
  });

  it('shows the admin token when it is stored, so that not even a crash loses it', async () => {
    const DATA_DIR = join(folder, 'crashed');
    const crashed = await start({ DATA_DIR });
    const [token] = await crashed.waitFor(/admin-[\w-]{32}/);
    await crashed.end('SIGKILL');
    const again = await start({ DATA_DIR });
    const [, url = ''] = await again.waitFor(/Base URL +(\S+)/);
    await again.waitFor(READY);
    const answer = await fetch(`${url}/admin/v1/accounts`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
    expect(crashed.output() + again.output()).toMatch(KEY);
    expect(await again.end('SIGTERM')).toBe(0);
  });
});

/** Signs in by a one-time link; answers the roles that it opens. */
async function openConsole(baseUrl: string, code: string): Promise<readonly string[]> {
  return (await consoleClient({ baseUrl }).call('POST /sign-in/link', { code })).body.roles;
}
