import { shared } from './jest.config.mjs';

/** Every test: `npm run test:all`, and any that is named on the command line. */
export default shared;
