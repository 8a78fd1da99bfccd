import { readFileSync } from 'node:fs';

const { exclude: _tests, ...swc } = JSON.parse(readFileSync('.swcrc', 'utf8'));

/** Native ES modules through SWC; the `source` condition makes the library doors point at TypeScript. */
export default {
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] },
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/bench', '<rootDir>/chaos'],
  testMatch: ['**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': ['@swc/jest', { ...swc, swcrc: false, sourceMaps: 'inline' }] },
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    // This package has a `source` condition of its own, which leads to TypeScript that nobody compiles.
    '^eventsource-parser$': '<rootDir>/node_modules/eventsource-parser/dist/index.js',
    '^eventsource-parser/stream$': '<rootDir>/node_modules/eventsource-parser/dist/stream.js',
  },
  setupFiles: ['reflect-metadata'],
  globalSetup: '<rootDir>/libs/testing/src/global-setup.mjs',
  globalTeardown: '<rootDir>/libs/testing/src/global-teardown.mjs',
  testTimeout: 30_000,
  maxWorkers: 2,
};
