import type {
  FleetState,
  ReconciliationReport,
  TextUpstreams,
  TasksNeedingAttention,
  TextCircuits,
  UpstreamView,
  WorkerView,
} from '#features';
import { logger, type Readiness, within } from '#platform';
import { type WakeupQueue, type Platform } from '#runtime';
import type { OpsServices } from './ops-services.js';

const log = logger('ops');

/** A source that takes longer is left out of the page, so that the page comes when it is needed most. */
const SOURCE_LIMIT_MS = 3_000;

const JOB_STATES = ['waiting', 'active', 'delayed', 'failed'] as const;

/** A queue and its jobs by state; null where the queue's server does not answer. */
export interface QueueView {
  readonly name: string;
  readonly jobs: Readonly<Record<(typeof JOB_STATES)[number], number>> | null;
  readonly isPaused: boolean;
}

/** How the circuit of an upstream stands, as this replica knows it. */
export type UpstreamCircuit = 'serving' | 'cooling_down' | 'cooling_down_for_some' | 'off' | 'not_in_service';

export interface UpstreamStanding {
  readonly upstream: UpstreamView;
  readonly circuit: UpstreamCircuit;
}

/** Everything that the overview shows. Null: the source did not answer in time. */
export interface FleetView {
  readonly readiness: Readiness;
  readonly fleet: FleetState | null;
  readonly needingAttention: TasksNeedingAttention | null;
  readonly queues: readonly QueueView[];
  /** Models on sale that cannot be ordered because they have no price. */
  readonly unpriced: readonly string[] | null;
  readonly workers: readonly WorkerView[] | null;
  readonly upstreams: readonly UpstreamStanding[] | null;
  /** The latest reconciliation; undefined: there was none yet. */
  readonly reconciliation: ReconciliationReport | undefined | null;
}

/** Asks all sources at once; one that is away takes no other with it. */
export async function readFleetView({ health, notifier }: Platform, services: OpsServices): Promise<FleetView> {
  const [readiness, fleet, needingAttention, queues, unpriced, workers, upstreams, reconciliation] = await Promise.all([
    health.ready(),
    attempt('fleet', () => services.fleet.read()),
    attempt('tasks needing attention', () => services.needingAttention.list()),
    Promise.all(notifier.queues().map(readQueue)),
    attempt('prices', () => services.onSale.withoutPrice()),
    attempt('workers', () => services.workers.list(true)),
    attempt('upstreams', async () => {
      const listed = await services.upstreams.list();
      return listed.map((upstream) => standingOf(upstream, services.upstreamsInService, services.circuits));
    }),
    attempt('reconciliation', async () => (await services.reconciliation.latest(1))[0]),
  ]);
  return { readiness, fleet, needingAttention, queues, unpriced, workers, upstreams, reconciliation };
}

async function attempt<Result>(source: string, read: () => Promise<Result>): Promise<Result | null> {
  try {
    return await within(read(), SOURCE_LIMIT_MS);
  } catch (error) {
    log.warn('overview.source_failed', { source, error });
    return null;
  }
}

async function readQueue(queue: WakeupQueue): Promise<QueueView> {
  const found = await attempt(`queue ${queue.name}`, () =>
    Promise.all([queue.getJobCounts(...JOB_STATES), queue.isPaused()]),
  );
  if (!found) return { name: queue.name, jobs: null, isPaused: false };
  const [counts, isPaused] = found;
  const { waiting = 0, active = 0, delayed = 0, failed = 0 } = counts;
  return { name: queue.name, jobs: { waiting, active, delayed, failed }, isPaused };
}

function standingOf(upstream: UpstreamView, inService: TextUpstreams, circuits: TextCircuits): UpstreamStanding {
  if (upstream.settings['enabled'] === false) return { upstream, circuit: 'off' };
  const live = inService.all.find(({ provider }) => provider.id === upstream.id);
  if (!live || upstream.problem !== null) return { upstream, circuit: 'not_in_service' };
  if (circuits.isCoolingForAll(live)) return { upstream, circuit: 'cooling_down' };
  return { upstream, circuit: circuits.isCooling(live) ? 'cooling_down_for_some' : 'serving' };
}
