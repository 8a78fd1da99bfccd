import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAdminToken } from './admin-token.js';

describe('The token of the admin API', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'admin-token-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('is the configured one when there is one, and nothing is written then', async () => {
    const token = await loadAdminToken({ ADMIN_TOKEN: 'chosen-by-hand', DATA_DIR: folder }, true);
    expect([token.opens('chosen-by-hand'), token.opens('chosen-by-hanD'), token.shownOnce]).toEqual([
      true,
      false,
      null,
    ]);
    expect(await readdir(folder)).toEqual([]);
  });

  it('does not exist in production unless configured: access is closed', async () => {
    const token = await loadAdminToken({ DATA_DIR: folder }, false);
    expect(['', 'admin', 'null'].map((guess) => token.opens(guess))).toEqual([false, false, false]);
  });

  it('is made once when embedded, shown once, and only its hash is kept, for its owner only', async () => {
    const first = await loadAdminToken({ DATA_DIR: folder }, true);
    const second = await loadAdminToken({ DATA_DIR: folder }, true);
    const shown = first.shownOnce ?? '';
    expect(shown).toMatch(/^admin-[\w-]{32}$/);
    expect([second.shownOnce, second.opens(shown)]).toEqual([null, true]);
    const [file = ''] = await readdir(folder);
    expect(await readFile(join(folder, file), 'utf8')).not.toContain(shown);
    expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
  });

  it('is one token for processes that start at the same time', async () => {
    const tokens = await Promise.all(Array.from({ length: 8 }, () => loadAdminToken({ DATA_DIR: folder }, true)));
    expect(new Set(tokens.map(({ digest }) => digest?.toString('hex'))).size).toBe(1);
    expect(tokens.filter(({ shownOnce }) => shownOnce !== null)).toHaveLength(1);
  });
});
