/**
 * Test files run in plain Node (no VM contexts), so that each worker loads our modules and libraries once and not once
 * per file: docs/decisions/README.md#tests-run-in-plain-node-divided-by-folder.
 */

/**
 * Folders of suites that wait for machines, processes and outages, and `waiting` wherever it lies: `npm test` leaves them
 * out, `npm run test:all` does not.
 */
export const LONG_FOLDERS = [
  'apps/console/test/pages',
  'tests/deployment',
  'tests/outages',
  'tests/processes',
  'attacks',
  'chaos',
  'fuzz',
  'tests/faults',
  'waiting',
];

/** How every test is run, whichever are chosen. */
export const shared = {
  runner: '<rootDir>/libs/testing/src/runner.mjs',
  roots: [
    '<rootDir>/apps',
    '<rootDir>/libs',
    '<rootDir>/tests',
    '<rootDir>/attacks',
    '<rootDir>/chaos',
    '<rootDir>/fuzz',
  ],
  testMatch: ['**/*.spec.ts'],
  testSequencer: '<rootDir>/libs/testing/src/long-suites-first.mjs',
  setupFilesAfterEnv: ['<rootDir>/libs/testing/src/limits.mjs', '<rootDir>/libs/testing/src/log-capture.mjs'],
  globalSetup: '<rootDir>/libs/testing/src/global-setup.mjs',
  globalTeardown: '<rootDir>/libs/testing/src/global-teardown.mjs',
  reporters: ['default', '<rootDir>/libs/testing/src/closing-line.mjs'],
  // Only `--onlyChanged` and `--findRelatedTests` follow imports by this; what runs is resolved by Node.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  // Not the temporary folder, which a test run leaves as it found it.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  // Suites wait for servers and processes for half of their time, so one more than two cores keeps them busy.
  maxWorkers: 4,
};

/** What `npm test` runs. */
export default {
  ...shared,
  testPathIgnorePatterns: LONG_FOLDERS.map((folder) => `<rootDir>/(.+/)?${folder}/`),
};
