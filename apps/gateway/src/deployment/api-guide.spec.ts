import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { startTestGateway, TEST_KEY, type TestGateway } from '../testing/test-gateway.js';

const run = promisify(execFile);

interface Example {
  readonly language: string;
  readonly code: string;
}

const EXAMPLES: readonly Example[] = [...readFileSync('docs/api.md', 'utf8').matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(
  ([, language = '', code = '']) => ({ language, code }),
);

describe('The guide to the API', () => {
  let gateway: TestGateway;
  let folder: string;
  let environment: Record<string, string>;

  beforeAll(async () => {
    [gateway, folder] = await Promise.all([startTestGateway(), mkdtemp(join(tmpdir(), 'api-guide-'))]);
    // Examples find the client libraries as they would in a project that has them.
    await symlink(resolve('node_modules'), join(folder, 'node_modules'));
    environment = { PATH: process.env['PATH'] ?? '', GATEWAY: gateway.baseUrl, GATEWAY_API_KEY: TEST_KEY };
  });
  afterAll(async () => {
    await gateway.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('has examples in shell and JavaScript only, so that all of them are executed below', () => {
    expect(EXAMPLES.filter(({ language }) => language === 'sh').length).toBeGreaterThan(8);
    expect(EXAMPLES.filter(({ language }) => language === 'js').length).toBeGreaterThan(4);
    expect(EXAMPLES.filter(({ language }) => language !== 'sh' && language !== 'js')).toEqual([]);
  });

  it('works line by line in one shell, from top to bottom', async () => {
    const script = EXAMPLES.filter(({ language }) => language === 'sh').map(({ code }) => code);
    const { stdout } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', script.join('\n')], {
      env: environment,
      cwd: folder,
    });
    expect(stdout).toContain('"status":"completed"');
    expect(stdout).toContain('"param":"n"');
    expect(stdout).toMatch(/"amount":"\d+\.\d{6}"/);
  }, 60_000);

  const scripts = EXAMPLES.filter(({ language }) => language === 'js').map(({ code }) => code);
  it.each(scripts)(
    'works in JavaScript: %s',
    async (code) => {
      const file = join(folder, 'example.mjs');
      await writeFile(file, code);
      const { stdout } = await run(process.execPath, [file], { env: environment, cwd: folder });
      expect(stdout.trim().length).toBeGreaterThan(3);
    },
    60_000,
  );
});
