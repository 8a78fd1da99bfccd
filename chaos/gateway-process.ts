// One process of the gateway under chaos: the real thing, but its vendor is the fake one.
import 'reflect-metadata';
import { loadConfig, onPlatform, type Platform, runProcess, type RunningProcess } from '#platform';
import { MediaProviderRegistry } from '#providers';
import { ChaosConfig, type Role } from './chaos.config.js';
import { HttpVendorProvider } from './http-vendor.provider.js';
import { skewClock } from './skew-clock.js';

const { CHAOS_ROLE, CHAOS_VENDOR_URL, CHAOS_REPEAT_START, CHAOS_CLOCK_SKEW_MS } = loadConfig(ChaosConfig);

/** Loaded by role, so that a replaced worker is back before the next crash. */
const START: Record<Role, (platform: Platform) => Promise<RunningProcess>> = {
  api: async (platform) => {
    const { createApi } = await import('../apps/api/src/create-api.js');
    const { seed } = await import('../apps/api/src/seed.js');
    const { serve } = await import('../apps/api/src/serve.js');
    const api = await createApi(platform);
    await seed(api, platform);
    const server = await serve(api, platform);
    return { ready: 'ready', stop: (graceMs) => server.stop(graceMs) };
  },
  'image-worker': async (platform) => {
    const { createImageWorker } = await import('../apps/image-worker/src/image-worker.js');
    const sandbox = new HttpVendorProvider(CHAOS_VENDOR_URL, CHAOS_REPEAT_START);
    const worker = createImageWorker(platform, new MediaProviderRegistry({ sandbox }));
    worker.start();
    return { ready: 'ready', stop: (graceMs) => worker.stop(graceMs) };
  },
  'maintenance-worker': async (platform) => {
    const { createMaintenanceWorker } = await import('../apps/maintenance-worker/src/maintenance-worker.js');
    const worker = createMaintenanceWorker(platform);
    worker.start();
    return { ready: 'ready', stop: () => worker.stop() };
  },
};

skewClock(CHAOS_CLOCK_SKEW_MS);
await runProcess(CHAOS_ROLE, () => onPlatform(START[CHAOS_ROLE]));
