import { shared } from './jest.config.mjs';

/** Every test: `npm run test:all`, and any that is named on the command line. The long ones wait for more of their time. */
export default { ...shared, maxWorkers: 6 };
