import { MediaUpstreams } from '#features';
import { ProviderUpstream } from '#providers';
import { type Failpoints, onPlatform, type Platform, runProcess, type RunningProcess, type Worker } from '#runtime';
import { createApi } from '../apps/api/src/create-api.js';
import { applyPrices, seed } from '../apps/api/src/seed.js';
import { serve } from '../apps/api/src/serve.js';
import { createImageWorker } from '../apps/image-worker/src/image-worker.js';
import { createMaintenanceWorker } from '../apps/maintenance-worker/src/create-maintenance-worker.js';
import { createVideoWorker } from '../apps/video-worker/src/video-worker.js';
import type { Assignment, Drill, Role } from './assignment.js';
import { HttpVendorProvider } from './http-vendor.provider.js';
import { skewClock } from './skew-clock.js';

type Start = (platform: Platform, upstreams: MediaUpstreams) => Promise<RunningProcess>;

const START: Record<Role, Start> = {
  api: async (platform) => {
    const api = await createApi(platform);
    await applyPrices(platform, []);
    await seed(api, platform);
    const server = await serve(api, platform);
    return { ready: 'ready', banner: 'ready', stop: (graceMs) => server.stop(graceMs) };
  },
  'image-worker': (platform, upstreams) => createImageWorker(platform, upstreams).then(begin),
  'video-worker': (platform, upstreams) => createVideoWorker(platform, upstreams).then(begin),
  'maintenance-worker': (platform) => createMaintenanceWorker(platform).then(begin),
};

function begin(worker: Worker): RunningProcess {
  worker.start();
  return { ready: 'ready', banner: 'ready', stop: (graceMs) => worker.stop(graceMs) };
}

/** Becomes what the assignment says; `onDrill` is given the listener for later drills. */
export async function startRole(
  { role, environment, vendorUrl, clockSkewMs, drill }: Assignment,
  onDrill: (listen: (drill: Drill) => void) => void,
): Promise<void> {
  const sandbox = new HttpVendorProvider(vendorUrl);
  let crashAt: Drill['crashAt'] = null;
  const practise = (next: Drill): void => {
    crashAt = next.crashAt;
    sandbox.become(next.repeatStart);
  };
  practise(drill);
  onDrill(practise);
  Object.assign(process.env, environment);
  skewClock(clockSkewMs);
  const failpoints: Failpoints = {
    reach(point) {
      if (crashAt?.point === point && Math.random() < crashAt.chance) process.kill(process.pid, 'SIGKILL');
    },
  };
  const upstreams = MediaUpstreams.of(new ProviderUpstream(sandbox));
  await runProcess({
    name: role,
    settings: {},
    start: (config) => onPlatform(config, async (platform) => START[role]({ ...platform, failpoints }, upstreams)),
  });
}
