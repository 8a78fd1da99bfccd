import type { Medium } from '#contracts';
import { createMediaWorker, keepBalanceUnit, MediaUpstreamRegistry } from '#features';
import { type OpenMediaUpstreams, openTextUpstreams } from '#providers';
import { type Failpoints, onPlatform, type Platform, runProcess, type RunningProcess, type Worker } from '#runtime';
import { skewClock } from '#testing';
import { createApi } from '../apps/api/src/create-api.js';
import { applyPrices, seed } from '../apps/api/src/seed.js';
import { serve, textDrainMs } from '../apps/api/src/serve.js';
import { createMaintenanceWorker } from '../apps/maintenance-worker/src/create-maintenance-worker.js';
import type { Assignment, Drill, Role } from './assignment.js';
import { openHurriedUpstreams } from './vendor/hurried-upstreams.js';

type Start = (platform: Platform, media: OpenMediaUpstreams) => Promise<RunningProcess>;

const START: Record<Role, Start> = {
  api: async (platform, media) => {
    const api = await createApi(platform, openTextUpstreams(), media);
    await keepBalanceUnit(platform.database, platform.config.server.BALANCE_UNIT);
    await applyPrices(platform);
    await seed(api, platform);
    const server = await serve(api, platform);
    return { ready: 'ready', banner: 'ready', stop: (graceMs) => server.stop(graceMs, textDrainMs(platform.config)) };
  },
  'image-worker': (platform, media) => onUpstreams(platform, media, 'image'),
  'video-worker': (platform, media) => onUpstreams(platform, media, 'video'),
  'maintenance-worker': (platform) => createMaintenanceWorker(platform).then(begin),
};

/** A worker that follows the upstreams, as its program has it. */
async function onUpstreams(platform: Platform, media: OpenMediaUpstreams, medium: Medium): Promise<RunningProcess> {
  const registry = new MediaUpstreamRegistry(platform.database, platform.sealer, media);
  await registry.start();
  const running = begin(await createMediaWorker(medium, platform, registry.upstreams));
  return {
    ...running,
    stop: async (graceMs) => {
      await running.stop(graceMs);
      await registry.close();
      await media.close();
    },
  };
}

function begin(worker: Worker): RunningProcess {
  worker.start();
  return { ready: 'ready', banner: 'ready', stop: (graceMs) => worker.stop(graceMs) };
}

/** Becomes what the assignment says; `onDrill` is given the listener for later drills. */
export async function startRole(
  { role, environment, clockSkewMs, drill }: Assignment,
  onDrill: (listen: (drill: Drill) => void) => void,
): Promise<void> {
  let crashAt: Drill['crashAt'] = null;
  const practise = (next: Drill): void => {
    crashAt = next.crashAt;
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
  await runProcess({
    name: role,
    settings: { media: () => openHurriedUpstreams(environment['MEDIA_FETCH_ALLOW'] ?? '') },
    start: (config, { media }) =>
      onPlatform(config, async (platform) => START[role]({ ...platform, failpoints }, media)),
  });
}
