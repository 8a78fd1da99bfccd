import { createTestDatabase, type TestDatabase } from '#testing';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readProcessConfig } from './config/process-config.js';
import { onPlatform } from './on-platform.js';

/** Longer than any of the stops here takes, in milliseconds. */
const GRACE_MS = 60_000;

function workFor(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('Stopping a process', () => {
  let test: TestDatabase;
  let folder: string;
  beforeAll(async () => {
    test = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'on-platform-'));
  });
  afterAll(async () => {
    await test.remove();
    await rm(folder, { recursive: true });
  });

  /** How much of the grace was left for the platform when what ran on it took so long. */
  async function leftAfter(tookMs: number, graceMs: number): Promise<number> {
    let left = Number.NaN;
    const config = readProcessConfig({
      ...test.environment,
      DATA_DIR: folder,
      KEY_PEPPER: 'a-pepper-for-tests-only',
    });
    const running = await onPlatform(config, (platform) => {
      const close = platform.close.bind(platform);
      Object.assign(platform, {
        close: (leftMs: number) => {
          left = leftMs;
          return close(leftMs);
        },
      });
      return Promise.resolve({ ready: 'nothing', stop: () => Promise.resolve(workFor(tookMs)) });
    });
    await running.stop(graceMs);
    return left;
  }

  it('gives the platform the rest of the shared time, and never less than zero', async () => {
    expect(await leftAfter(50, GRACE_MS)).toBeLessThan(GRACE_MS - 40);
    expect(await leftAfter(50, 10)).toBe(0);
  });
});
