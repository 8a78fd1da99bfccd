import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { searchLogs } from './search-logs.js';

describe('The search through the logs of a test run', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'search-logs-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it.each([
    ['an API key', '{"key":"sk-test-0123456789abcdef"}'],
    ['a webhook secret', '{"detail":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}'],
    ['an admin token', '{"detail":"an-admin-token-for-tests"}'],
    ['a password in an address', '{"detail":"postgresql://gateway:secret@127.0.0.1:5432/gateway"}'],
    [
      'a link that signs in',
      '{"url":"http://127.0.0.1/console/sign-in#code=iJIqTqS0yQZ7N6o1cVn9mR4k2WbXh3sD8uEfGpLtAaY"}',
    ],
    ['a prompt', '{"reason":"a lighthouse at dusk"}'],
    ['an inline file', '{"url":"data:image/png;base64,iVBORw0KGgo="}'],
  ])('finds %s', async (what, line) => {
    const file = join(folder, 'a.log');
    await writeFile(file, `{"event":"request.completed","route":"/v1/tasks/:task_id"}\n${line}\n`);
    expect(await searchLogs(file)).toEqual([{ what, line }]);
  });
});
