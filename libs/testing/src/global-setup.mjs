// Starts the services of a test run. Jest loads this file outside its own transformation, so it brings its own loader.
import { register } from 'node:module';

register('../../../scripts/typescript-loader.mjs', import.meta.url);

export default async function startServices() {
  const { startTestServices } = await import('./test-services.ts');
  const services = await startTestServices();
  Object.assign(process.env, services.environment);
  if (services.environment.TEST_REDIS_URL === undefined) {
    process.stderr.write('redis-server is missing: the suites on Redis are skipped (they fail when CI=true).\n');
  }
  globalThis.stopTestServices = services.stop;
}
