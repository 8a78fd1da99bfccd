import { rmSync } from 'node:fs';

export default async function stopServices() {
  await globalThis.stopTestServices?.();
  const { searchLogs } = await import('./search-logs.ts');
  const found = await searchLogs(process.env.TEST_LOG_FILE);
  if (found.length === 0) return rmSync(process.env.TEST_LOG_FILE, { force: true });
  const lines = found.map(({ what, line }) => `${what}: ${line}`).join('\n');
  throw new Error(
    `The logs of this run hold what no log may hold:\n${lines}\nAll of them: ${process.env.TEST_LOG_FILE}`,
  );
}
