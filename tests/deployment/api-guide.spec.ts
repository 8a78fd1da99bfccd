import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ERRORS, type ErrorCode } from '#contracts';
import { describeWithPython, freePort } from '#testing';
import { startTestGateway, TEST_KEY, type TestGateway } from '../harness/test-gateway.js';

const run = promisify(execFile);

const PAGES = [
  'docs/api.md',
  'docs/api/media.md',
  'docs/api/text.md',
  'docs/api/files.md',
  'docs/api/tools.md',
  'docs/api/webhooks.md',
  'docs/api/errors.md',
];
const LIMIT_MS = 90_000;

/** All examples of a page in one language, in order: they build on each other. */
const exampleOf = (page: string, language: string): string =>
  [...readFileSync(page, 'utf8').matchAll(/^```(\w*)\n([^]*?)^```$/gm)]
    .filter(([, tag]) => tag === language)
    .map(([, , code]) => code)
    .join('\n');

describe('The guide to the API', () => {
  let gateway: TestGateway;
  let folder: string;
  let environment: Record<string, string>;

  beforeAll(async () => {
    const receiverPort = await freePort();
    [gateway, folder] = await Promise.all([
      // The receiver of the webhook examples listens on this machine.
      startTestGateway({ environment: { MEDIA_FETCH_ALLOW: `localhost:${receiverPort}` } }),
      mkdtemp(join(tmpdir(), 'api-guide-')),
    ]);
    // Examples find the client libraries as they would in a project that has them.
    await symlink(resolve('node_modules'), join(folder, 'node_modules'));
    environment = {
      PATH: process.env['PATH'] ?? '',
      GATEWAY: gateway.baseUrl,
      GATEWAY_API_KEY: TEST_KEY,
      RECEIVER_PORT: String(receiverPort),
    };
  });
  afterAll(async () => {
    await gateway.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(PAGES)('shows every example of %s in Python and in JavaScript, and executes every tagged block', (page) => {
    const tags = [...readFileSync(page, 'utf8').matchAll(/^```(\w+)$/gm)].map(([, tag]) => tag);
    expect(new Set(tags)).toEqual(new Set(['sh', 'python', 'js']));
    const count = (language: string): number => tags.filter((tag) => tag === language).length;
    // The SDKs of JavaScript have an example more here and there; Python speaks HTTP.
    expect(count('js') - count('python')).toBeLessThanOrEqual(1);
  });

  it.each(PAGES)(
    'works in a shell from top to bottom: %s',
    async (page) => {
      const script = exampleOf(page, 'sh');
      const { stdout } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
        env: environment,
        cwd: folder,
      });
      expect(stdout.trim()).not.toBe('');
    },
    LIMIT_MS,
  );

  it.each(PAGES)(
    'works in JavaScript from top to bottom: %s',
    async (page) => {
      const file = join(folder, 'example.mjs');
      await writeFile(file, exampleOf(page, 'js'));
      const { stdout } = await run(process.execPath, [file], { env: environment, cwd: folder });
      expect(stdout.trim()).not.toBe('');
    },
    LIMIT_MS,
  );

  describeWithPython('in Python', (python) => {
    it.each(PAGES)(
      'works from top to bottom: %s',
      async (page) => {
        const file = join(folder, 'example.py');
        await writeFile(file, exampleOf(page, 'python'));
        const { stdout } = await run(python, [file], { env: environment, cwd: folder });
        expect(stdout.trim()).not.toBe('');
      },
      LIMIT_MS,
    );
  });

  it('lists every error code with its status, and whether a retry can succeed', () => {
    const rows = [...readFileSync('docs/api/errors.md', 'utf8').matchAll(/^\| `(\w+)` +\| (\d+) +\| (.+?) +\|/gm)].map(
      ([, code = '', status, repeat]) => ({ code, status: Number(status), repeats: repeat === 'yes' }),
    );
    const known = (Object.keys(ERRORS) as ErrorCode[]).map((code) => ({
      code,
      status: ERRORS[code].status,
      repeats: ERRORS[code].retryable,
    }));
    expect(rows.toSorted(byCode)).toEqual(known.toSorted(byCode));
  });
});

const byCode = (one: { code: string }, other: { code: string }): number => one.code.localeCompare(other.code);
