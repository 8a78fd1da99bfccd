import { MEDIA } from '#contracts';
import { FAILED_DELIVERIES_COUNTED, type FleetState, type WorkerView } from '#features';
import type { FleetView } from './fleet-view.js';
import { html, type Html } from './html.js';
import { duration, mark } from './parts.js';

/** Something that an operator should check, and where. */
export interface Concern {
  readonly tone: 'bad' | 'warn';
  readonly words: string;
  readonly path: string | null;
}

/** Seconds after which a thing is late: those of the alerts. */
const LATE = { task: 30, poll: 60, webhook: 120 } as const;
const RECONCILED_WITHIN_MS = 26 * 3_600_000;
const ROLES = [...MEDIA.map((medium) => `${medium}-worker`), 'maintenance-worker'];

const bad = (words: string, path: string | null = null): Concern => ({ tone: 'bad', words, path });
const warn = (words: string, path: string | null = null): Concern => ({ tone: 'warn', words, path });

/** What needs attention, the worst first. */
export function concernsOf(view: FleetView, nowMs = Date.now()): Concern[] {
  const all = [
    ...readinessConcerns(view),
    ...bookConcerns(view, nowMs),
    ...attentionConcerns(view),
    ...(view.fleet ? lateness(view.fleet) : []),
    ...(view.workers ? workerConcerns(view.workers) : []),
    ...queueConcerns(view),
    ...upstreamConcerns(view),
  ];
  return [...all.filter(({ tone }) => tone === 'bad'), ...all.filter(({ tone }) => tone === 'warn')];
}

export const concernList = (concerns: readonly Concern[]): Html =>
  concerns.length === 0
    ? html`<p>${mark('good', 'all well')} Nothing needs attention.</p>`
    : html`<ul class="attention">
        ${concerns.map(
          ({ tone, words, path }) =>
            html`<li>
              ${mark(tone, tone === 'bad' ? 'act now' : 'look')}
              <span>${path === null ? words : html`<a href="${path}">${words}</a>`}</span>
            </li>`,
        )}
      </ul>`;

function readinessConcerns({ readiness, fleet }: FleetView): Concern[] {
  const place = (reason: string): string | null => (reason.startsWith('prices:') ? '#unpriced' : null);
  return [
    ...readiness.reasons.map((reason) =>
      readiness.status === 'not_ready' ? bad(reason) : warn(reason, place(reason)),
    ),
    ...(fleet ? [] : [bad('The database did not answer in time; much of this page is missing.')]),
  ];
}

function bookConcerns({ fleet, reconciliation }: FleetView, nowMs: number): Concern[] {
  const concerns: Concern[] = [];
  if (fleet && fleet.money.mismatchMicros !== 0n)
    concerns.push(bad('Two ways of counting the same money differ.', '#money'));
  if (reconciliation && !reconciliation.balanced)
    concerns.push(bad(`The last reconciliation found ${reconciliation.findings.length} errors.`, '#money'));
  if (reconciliation && nowMs - reconciliation.finishedAt.getTime() > RECONCILED_WITHIN_MS)
    concerns.push(warn('The last reconciliation is older than a day.', '#money'));
  return concerns;
}

function attentionConcerns({ needingAttention }: FleetView): Concern[] {
  if (!needingAttention) return [];
  const { parked, unconfirmed, orphans } = needingAttention;
  return [
    ...counted(
      parked.length,
      'task was given up for a reason of ours',
      'tasks were given up for reasons of ours',
      '#parked',
    ),
    ...counted(
      unconfirmed.length,
      'start was never confirmed by its vendor',
      'starts were never confirmed by their vendors',
      '#unconfirmed',
    ),
    ...counted(orphans.length, 'vendor job belongs to no task', 'vendor jobs belong to no task', '#orphans'),
  ];
}

const counted = (count: number, one: string, many: string, path: string): Concern[] =>
  count === 0 ? [] : [warn(`${count} ${count === 1 ? one : many}.`, path)];

function lateness({ due, polls, webhooks }: FleetState): Concern[] {
  const concerns = due
    .filter(({ oldest }) => oldest > LATE.task)
    .map(({ medium, due: count, oldest }) =>
      bad(
        `${count} ${medium} tasks wait for a worker, the oldest for ${duration(oldest)}.`,
        `/ops/tasks?type=${medium}&state=queued`,
      ),
    );
  if (polls.oldest > LATE.poll)
    concerns.push(
      bad(
        `${polls.due} polls of vendors are late, the oldest by ${duration(polls.oldest)}.`,
        '/ops/tasks?state=running',
      ),
    );
  if (webhooks.lag > LATE.webhook)
    concerns.push(bad(`Webhooks are late by ${duration(webhooks.lag)}.`, '/ops/deliveries?status=pending'));
  if (webhooks.failedLately > 0) {
    const more = webhooks.failedLately === FAILED_DELIVERIES_COUNTED ? ' or more' : '';
    concerns.push(
      warn(
        `Webhook deliveries given up in the last 24 h: ${webhooks.failedLately}${more}.`,
        '/ops/deliveries?status=failed',
      ),
    );
  }
  return concerns;
}

function workerConcerns(workers: readonly WorkerView[]): Concern[] {
  const silent = workers.filter(({ status }) => status === 'silent').length;
  return [
    ...ROLES.filter((role) => !workers.some((worker) => worker.role === role && worker.status === 'live')).map((role) =>
      bad(`No live ${role}.`, '/ops/workers?all=true'),
    ),
    ...counted(
      silent,
      'worker fell silent in the last 24 h',
      'workers fell silent in the last 24 h',
      '/ops/workers?all=true',
    ),
  ];
}

const queueConcerns = ({ queues }: FleetView): Concern[] =>
  queues.flatMap(({ name, jobs, isPaused }) => {
    if (jobs === null) return [bad(`The queue ${name} does not answer.`)];
    return isPaused ? [warn(`The queue ${name} is paused.`, `/ops/queues/queue/${name}`)] : [];
  });

const upstreamConcerns = ({ upstreams }: FleetView): Concern[] =>
  (upstreams ?? []).flatMap(({ upstream, circuit }) => {
    if (circuit === 'cooling_down')
      return [bad(`Upstream ${upstream.id} is cooling down for every account.`, '#upstreams')];
    if (circuit === 'cooling_down_for_some')
      return [warn(`Upstream ${upstream.id} is cooling down for some accounts.`, '#upstreams')];
    return circuit === 'not_in_service'
      ? [bad(`Upstream ${upstream.id} gets no requests: ${upstream.problem ?? 'not loaded yet'}`, '#upstreams')]
      : [];
  });
