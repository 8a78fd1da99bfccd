import { type Database, type Health, type MetricSource, READINESS_STATUSES, signals, VERSION } from '#platform';
import type { WakeupQueue, TaskNotifier } from '../queue/task-notifier.js';

/** The states of wake-ups that mean something; finished ones are not kept. */
const WAKEUP_STATES = ['waiting', 'active', 'delayed', 'failed'] as const;

/** What every process can measure of itself and the queues it sends to. */
export function platformSources(database: Database, notifier: TaskNotifier, health: Health): MetricSource[] {
  signals.buildInfo.set({ version: VERSION }, 1);
  return [
    { name: 'pool', collect: () => collectPool(database) },
    { name: 'queues', collect: () => collectQueues(notifier) },
    readinessSource(health),
  ];
}

/** What `/readyz` answers, as numbers. */
export const readinessSource = (health: Health): MetricSource => ({
  name: 'readiness',
  collect: () => collectReadiness(health),
});

function collectPool(database: Database): void {
  const { total, idle, waiting, limit } = database.connections();
  signals.poolConnections.set({ state: 'busy' }, total - idle);
  signals.poolConnections.set({ state: 'idle' }, idle);
  signals.poolWaiting.set(waiting);
  signals.poolLimit.set(limit);
}

async function collectQueues(notifier: TaskNotifier): Promise<void> {
  await Promise.all(notifier.queues().map(collectQueue));
}

async function collectQueue(queue: WakeupQueue): Promise<void> {
  const [counts, [oldest]] = await Promise.all([
    queue.getJobCounts(...WAKEUP_STATES),
    queue.getJobs(['waiting'], 0, 0, true),
  ]);
  for (const state of WAKEUP_STATES) signals.queueJobs.set({ queue: queue.name, state }, counts[state] ?? 0);
  signals.queueOldest.set({ queue: queue.name }, oldest ? Math.max(0, Date.now() - oldest.timestamp) / 1000 : 0);
}

async function collectReadiness(health: Health): Promise<void> {
  const { parts, status } = await health.ready();
  for (const each of READINESS_STATUSES) signals.readiness.set({ status: each }, each === status ? 1 : 0);
  for (const [part, { ok }] of Object.entries(parts)) signals.ready.set({ part }, ok ? 1 : 0);
}
