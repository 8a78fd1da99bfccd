/**
 * Test files run in plain Node (no VM contexts), so that each worker loads our modules and libraries once and not once
 * per file: docs/decisions/2026-11-22-tests-in-plain-node.md.
 */
export default {
  runner: 'jest-light-runner',
  roots: [
    '<rootDir>/apps',
    '<rootDir>/libs',
    '<rootDir>/attacks',
    '<rootDir>/bench',
    '<rootDir>/chaos',
    '<rootDir>/fuzz',
  ],
  testMatch: ['**/*.spec.ts'],
  testSequencer: '<rootDir>/libs/testing/src/long-suites-first.mjs',
  setupFilesAfterEnv: ['<rootDir>/libs/testing/src/time-limits.mjs', '<rootDir>/libs/testing/src/log-capture.mjs'],
  globalSetup: '<rootDir>/libs/testing/src/global-setup.mjs',
  globalTeardown: '<rootDir>/libs/testing/src/global-teardown.mjs',
  // Not the temporary folder, which a test run leaves as it found it.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  // Suites wait for servers and processes for half of their time, so one more than two cores keeps them busy.
  maxWorkers: 3,
};
