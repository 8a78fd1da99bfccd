import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { createTestDatabase, type TestDatabase } from '#testing';
import { spawnScript } from '../harness/spawned-process.js';

const run = promisify(execFile);

const DOCKERFILE = readFileSync('Dockerfile', 'utf8');
/** The stage that ships: what it copies, and from where to where inside the image. */
const RUNTIME = DOCKERFILE.slice(DOCKERFILE.lastIndexOf('\nFROM '));
const COPIED = [...RUNTIME.matchAll(/^COPY (?:--\S+ )*(\S+) \.\/(\S+)$/gm)].map(
  ([, from = '', to = '']) => [from.replace(/^\/app\//, ''), to] as const,
);

/** What operators run in a clone: tests and measurements, and the token of an embedded gateway. */
const OF_A_CLONE = new Set(['bench', 'check', 'test:image', 'new-admin-token']);

describe('The image', () => {
  let layout: string;
  let database: TestDatabase;

  beforeAll(async () => {
    layout = await mkdtemp(join(tmpdir(), 'gateway-image-'));
    database = await createTestDatabase();
    for (const [from, to] of COPIED) {
      await mkdir(dirname(join(layout, to)), { recursive: true });
      // The image installs what is shipped; here the installed packages stand in, read and not copied.
      if (to === 'node_modules') await symlink(resolve(from), join(layout, to));
      else await cp(from, join(layout, to), { recursive: true });
    }
    await chmod(layout, 0o555);
  });
  afterAll(async () => {
    await chmod(layout, 0o755);
    await rm(layout, { recursive: true, force: true });
    await database.remove();
  });

  const environment = (dataDirectory: string): Record<string, string> => ({
    ...database.environment,
    SANDBOX_BILLING_ENABLED: 'true',
    KEY_PEPPER: 'a-pepper-for-tests-only',
    DATA_DIR: dataDirectory,
    PORT: '0',
    OPS_PORT: '0',
  });

  const entryPoint = (command: string, variables: Record<string, string>) =>
    run(process.execPath, ['deploy/entrypoint.mjs', command], {
      cwd: layout,
      env: { PATH: process.env['PATH'] ?? '', ...variables },
    });

  it('ships the build, its packages, the migrations and the entry point, and nothing that tests need', () => {
    expect(COPIED.map(([, to]) => to)).toEqual([
      'package.json',
      'node_modules',
      'dist',
      'prisma/migrations',
      'scripts/migrate.mjs',
      'scripts/backup.mjs',
      'scripts/restore.mjs',
      'scripts/prices.mjs',
      'scripts/new-key.mjs',
      'scripts/console-link.mjs',
      'scripts/smoke.mjs',
      'deploy/entrypoint.mjs',
    ]);
    for (const [from] of COPIED) expect([from, existsSync(from)]).toEqual([from, true]);
  });

  it('contains every command that the operations pages use, under the name that they say', () => {
    const pages = readdirSync('docs/operations', { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.md'),
    );
    const commands = pages.flatMap((page) => [
      ...readFileSync(`docs/operations/${page}`, 'utf8').matchAll(/npm run ([a-z][a-z:-]*)/g),
    ]);
    const names = new Set(commands.map(([, name = '']) => name).filter((name) => !OF_A_CLONE.has(name)));
    expect(names.size).toBeGreaterThan(6);
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
    const entryPoint = readFileSync('deploy/entrypoint.mjs', 'utf8');
    for (const name of names) {
      const file = scripts[name]?.replace('node ', '') ?? '';
      expect([name, COPIED.some(([, to]) => to === file)]).toEqual([name, true]);
      expect([name, entryPoint.includes(`: '../${file}'`)]).toEqual([name, true]);
    }
  });

  it('runs as an unprivileged user, with a health check and a stop signal', () => {
    expect(RUNTIME).toMatch(/^USER 1000:1000$/m);
    expect(RUNTIME).toMatch(/^HEALTHCHECK [^]*"healthcheck"\]$/m);
    expect(RUNTIME).toMatch(/^STOPSIGNAL SIGTERM$/m);
    // Both stages stand on the base that can be pinned in one place.
    expect(DOCKERFILE.match(/^FROM .*$/gm)).toEqual(['FROM ${NODE_IMAGE} AS build', 'FROM ${NODE_IMAGE}']);
    expect(DOCKERFILE).not.toMatch(/ADD |curl|wget|:latest/);
  });

  it('migrates, lists its commands when given an unknown one, and is unhealthy while nothing runs', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-image-data-'));
    expect((await entryPoint('migrate', environment(folder))).stdout).toBe('The database is up to date.\n');
    await expect(entryPoint('worker', environment(folder))).rejects.toThrow(
      /There is no process "worker": choose api, gateway/,
    );
    await expect(entryPoint('gateway', { DATA_DIR: folder })).rejects.toMatchObject({
      code: 2,
      stderr: 'This image has no embedded Postgres: set DATABASE_URL.\n',
    });
    await expect(entryPoint('healthcheck', { OPS_PORT: '1' })).rejects.toMatchObject({ code: 1 });
    await rm(folder, { recursive: true, force: true });
  });

  it.each([
    ['api', /API on /],
    ['video-worker', /waiting for video tasks/],
    ['image-worker', /waiting for image tasks/],
    ['maintenance-worker', /doing maintenance/],
  ])('starts %s and stops it with SIGTERM and exit code 0', async (command, ready) => {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-image-data-'));
    const started = spawnScript(['deploy/entrypoint.mjs', command], environment(folder), layout);
    await started.waitFor(ready);
    expect([await started.end('SIGTERM'), started.output()]).toEqual([0, expect.anything()]);
    await rm(folder, { recursive: true, force: true });
  });
});
