/**
 * Test files run in plain Node (no VM contexts), so that each worker loads our modules and libraries once and not once
 * per file: docs/decisions/2026-11-22-tests-in-plain-node.md.
 */
export default {
  runner: 'jest-light-runner',
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/bench', '<rootDir>/chaos'],
  testMatch: ['**/*.spec.ts'],
  setupFilesAfterEnv: ['<rootDir>/libs/testing/src/time-limits.mjs'],
  globalSetup: '<rootDir>/libs/testing/src/global-setup.mjs',
  globalTeardown: '<rootDir>/libs/testing/src/global-teardown.mjs',
  maxWorkers: 2,
};
