import type { TestGateway } from '../tests/harness/test-gateway.js';

/** Event streams, which have no end, and a page that sends on. */
const NO_JSON = /\/(events|callback)$/;
const READ = /^\/(v1|v1beta|admin|console\/api)\//;

/** The paths of everything that is read as JSON, with ids that do not exist. */
export const readsOf = (gateway: Pick<TestGateway, 'routes'>): string[] =>
  gateway
    .routes()
    .filter(([method, path]) => method === 'GET' && READ.test(path))
    .filter(([, path]) => !NO_JSON.test(path))
    .map(([, path]) => path.replaceAll(/:\w+/g, 'unknown_1'));
