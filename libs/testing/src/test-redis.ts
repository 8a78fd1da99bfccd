import { randomBytes } from 'node:crypto';
import { loadConfig } from '#platform';
import { describeWhere } from './describe-where.js';
import { TestServicesConfig } from './test-services.js';

/**
 * A suite that needs the Redis of the test run. Without one it fails when `CI` is set, and is skipped elsewhere (the
 * set-up of the run says so once).
 */
export function describeWithRedis(name: string, suite: (redisUrl: string) => void): void {
  const needed = {
    found: loadConfig(TestServicesConfig).TEST_REDIS_URL,
    instead: 'redis://missing',
    title: 'has a Redis to run against',
    missing: 'redis-server is missing: install it or set REDIS_URL.',
  };
  describeWhere(name, needed, suite);
}

/** A queue prefix of one spec file's own, so that files on the same Redis never see each other. */
export const uniqueRedisPrefix = (): string => `{test-${randomBytes(6).toString('hex')}}`;
