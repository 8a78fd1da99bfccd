import { shared } from './jest.config.mjs';

/** Real coding agents against the gateway: `npm run test:agents`. Slow, and their clients come from the package registry. */
export default { ...shared, roots: ['<rootDir>/agents'], testMatch: ['**/*.agents.ts'], maxWorkers: 1 };
