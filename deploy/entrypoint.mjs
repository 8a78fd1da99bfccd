// Starts the process that the first argument names. Runs it in this very process, so that signals reach it.
const PROCESSES = {
  api: '../dist/apps/api/src/main.js',
  gateway: '../dist/apps/gateway/src/main.js',
  'video-worker': '../dist/apps/video-worker/src/main.js',
  'image-worker': '../dist/apps/image-worker/src/main.js',
  'maintenance-worker': '../dist/apps/maintenance-worker/src/main.js',
  migrate: '../scripts/migrate.mjs',
  backup: '../scripts/backup.mjs',
  restore: '../scripts/restore.mjs',
  prices: '../scripts/prices.mjs',
  'new-key': '../scripts/new-key.mjs',
  'console-link': '../scripts/console-link.mjs',
  smoke: '../scripts/smoke.mjs',
};

const [name = 'api'] = process.argv.slice(2);
if (name === 'healthcheck') {
  process.exitCode = (await isAlive()) ? 0 : 1;
} else if (name === 'gateway' && !process.env.DATABASE_URL) {
  console.error('This image has no embedded Postgres: set DATABASE_URL.');
  process.exitCode = 2;
} else if (Object.hasOwn(PROCESSES, name)) {
  // The process reads its own arguments where it always does.
  process.argv.splice(2, 1);
  await import(PROCESSES[name]);
} else {
  console.error(`There is no process "${name}": choose ${Object.keys(PROCESSES).join(', ')} or healthcheck.`);
  process.exitCode = 2;
}

/** A container is restarted when the process does not answer; being unready is for the load balancer alone. */
async function isAlive() {
  try {
    const port = process.env.OPS_PORT || process.env.PORT || '3000';
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(4_000) });
    return answer.ok;
  } catch {
    return false;
  }
}
