// Starts the services of a test run.
export default async function startServices() {
  const { startTestServices } = await import('./test-services.ts');
  const services = await startTestServices();
  Object.assign(process.env, services.environment);
  if (services.environment.TEST_REDIS_URL === undefined) {
    process.stderr.write('redis-server is missing: the suites on Redis are skipped (they fail when CI=true).\n');
  }
  globalThis.stopTestServices = services.stop;
}
