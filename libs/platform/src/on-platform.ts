import { openPlatform, type Platform } from './platform.js';
import type { RunningProcess } from './run-process.js';

/** Opens the platform and starts a process on it. The platform closes after the process, or at once when the start fails. */
export async function onPlatform(start: (platform: Platform) => Promise<RunningProcess>): Promise<RunningProcess> {
  const platform = await openPlatform();
  try {
    const running = await start(platform);
    return {
      ready: running.ready,
      stop: async (graceMs) => {
        await running.stop(graceMs);
        await platform.close(graceMs);
      },
    };
  } catch (error) {
    await platform.close(0);
    throw error;
  }
}
