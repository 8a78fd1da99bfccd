import { randomBytes } from 'node:crypto';
import { loadConfig } from '#platform';
import { TestServicesConfig } from './test-services.js';

/**
 * A suite that needs the Redis of the test run. Without one it fails when `CI` is set, and is skipped elsewhere (the
 * set-up of the run says so once).
 */
export function describeWithRedis(name: string, suite: (redisUrl: string) => void): void {
  const { TEST_REDIS_URL, CI } = loadConfig(TestServicesConfig);
  if (TEST_REDIS_URL !== undefined) return describe(name, () => suite(TEST_REDIS_URL));
  if (CI !== 'true' && CI !== '1') return describe.skip(name, () => suite('redis://missing'));
  describe(name, () => {
    it('has a Redis to run against', () => {
      throw new Error('redis-server is missing: install it or set REDIS_URL. In CI these suites must run.');
    });
  });
}

/** A queue prefix of one spec file's own, so that files on the same Redis never see each other. */
export const uniqueRedisPrefix = (): string => `{test-${randomBytes(6).toString('hex')}}`;
