// Starts the services of a test run, and ends them with it, however it ends.
import { mkdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';

const LOGS = resolve('node_modules/.cache/test-logs');

export default async function startServices() {
  const { startTestServices } = await import('./test-services.ts');
  const services = await startTestServices();
  Object.assign(process.env, services.environment);
  mkdirSync(LOGS, { recursive: true });
  const logFile = `${LOGS}/${process.pid}.log`;
  rmSync(logFile, { force: true });
  process.env.TEST_LOG_FILE = logFile;
  if (services.environment.TEST_REDIS_URL === undefined) {
    process.stderr.write('redis-server is missing: the suites on Redis are skipped (they fail when CI=true).\n');
  }
  globalThis.stopTestServices = services.stop;
}
