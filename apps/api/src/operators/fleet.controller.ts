import { Inject, Param, Req } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  type AdminConcern,
  type AdminHealth,
  type AdminOverview,
  type AdminUpstream,
  formatMicros,
  MEDIA,
} from '#contracts';
import {
  DeliverySearchService,
  type FleetState,
  FleetStateService,
  ModelsOnSale,
  type ReconciliationReport,
  ReconciliationService,
  type TasksNeedingAttention,
  TasksNeedingAttentionService,
  WorkersService,
  type WorkerView,
} from '#features';
import { logger, type Readiness, within } from '#platform';
import { PLATFORM, type Platform, type WakeupQueue } from '#runtime';
import { CheckedQuery } from '../checked-input.js';
import { DeliveriesQuery, WorkersQuery } from './task.dto.js';
import { Upstreams } from '../upstreams.js';
import { PageRoute } from '../console/console-routes.js';
import { rowOf } from '../console/views.js';
import { viewOf, viewOfRow } from '../row-view.js';
import { sendList } from '../send-list.js';
import { TASK_OPERATIONS } from './admin.openapi.js';
import { operatorOf, OperatorRoute, OperatorRoutes } from './operator-route.js';
import { Reply } from '../http/route.js';

const log = logger('console');

/** A source that takes longer is left out, so that the page comes when it is needed most. */
const SOURCE_LIMIT_MS = 3_000;
/** Seconds after which a thing is late: those of the alerts. */
const LATE = { task: 30, poll: 60, webhook: 120 } as const;
const RECONCILED_WITHIN_MS = 26 * 3_600_000;
const ROLES = [...MEDIA.map((medium) => `${medium}-worker`), 'maintenance-worker'];

/** How the gateway stands, its worker processes, and the webhook deliveries of all accounts. */
@OperatorRoutes()
export class FleetController {
  constructor(
    @Inject(PLATFORM) private readonly platform: Platform,
    private readonly fleet: FleetStateService,
    private readonly needingAttention: TasksNeedingAttentionService,
    private readonly onSale: ModelsOnSale,
    private readonly workers: WorkersService,
    private readonly upstreams: Upstreams,
    private readonly reconciliation: ReconciliationService,
    private readonly deliveries: DeliverySearchService,
  ) {}

  /** Asks all sources at once; one that is away takes no other with it. */
  @PageRoute('GET /admin/health')
  async read() {
    const [readiness, fleet, needingAttention, queues, unpriced, workers, upstreams, reports] = await Promise.all([
      this.platform.health.ready(),
      readInTime('fleet', () => this.fleet.read()),
      readInTime('tasks needing attention', () => this.needingAttention.list()),
      Promise.all(this.platform.notifier.queues().map(readQueue)),
      readInTime('prices', () => this.onSale.withoutPrice()),
      readInTime('workers', () => this.workers.list(true)),
      readInTime('upstreams', () => this.upstreams.all()),
      readInTime('reconciliation', () => this.reconciliation.latest(1)),
    ]);
    const concerns = [
      ...concernsOfReadiness(readiness),
      ...(fleet ? concernsOfFleet(fleet) : [bad('database_silent')]),
      ...(reports?.[0] ? concernsOfBooks(reports[0]) : []),
      ...(needingAttention ? concernsOfTasks(needingAttention) : []),
      ...(workers ? concernsOfWorkers(workers) : []),
      ...queues.flatMap(({ name, state }) => {
        if (state === 'silent') return [bad('queue_silent', { name })];
        return state === 'paused' ? [warn('queue_paused', { name })] : [];
      }),
      ...(upstreams ?? []).flatMap(concernsOfUpstream),
    ];
    return {
      as_of: new Date().toISOString(),
      version: readiness.version,
      attention: [...concerns.filter(({ tone }) => tone === 'bad'), ...concerns.filter(({ tone }) => tone === 'warn')],
      money: fleet && {
        available: formatMicros(fleet.money.availableMicros),
        held: formatMicros(fleet.money.heldMicros),
        used: formatMicros(fleet.money.usedMicros),
      },
      open_tasks: fleet && fleet.open.map(({ medium, state, open }) => ({ type: medium, state, count: open })),
      queues,
      late: fleet && {
        polls: fleet.polls.due,
        oldest_poll: fleet.polls.oldest,
        deliveries: fleet.webhooks.pending,
        oldest_delivery: fleet.webhooks.lag,
      },
      unpriced,
      failures: fleet && fleet.failures.map(({ failed, ...reason }) => ({ ...reason, count: failed })),
    };
  }

  @PageRoute('GET /admin/overview')
  async overview() {
    const [state, upstreams, workers, { parked, unconfirmed, orphans }, [report]] = await Promise.all([
      this.fleet.read(),
      this.upstreams.all(),
      this.workers.list(false),
      this.needingAttention.list(),
      this.reconciliation.latest(1),
    ]);
    return {
      open_tasks: state.open.reduce((sum, { open }) => sum + open, 0),
      parked_tasks: parked.length,
      unconfirmed_tasks: unconfirmed.length,
      orphans: orphans.length,
      upstreams: upstreams.length,
      upstreams_not_serving: upstreams.filter(({ health }) => health.state !== 'serving').length,
      workers: workers.length,
      last_reconciliation: report ? rowOf<NonNullable<AdminOverview['last_reconciliation']>>(report) : null,
    };
  }

  @OperatorRoute('GET /workers', TASK_OPERATIONS.adminListWorkers)
  async listWorkers(@CheckedQuery(WorkersQuery) { all }: WorkersQuery): Promise<unknown> {
    return (await this.workers.list(all === 'true')).map(viewOf);
  }

  @OperatorRoute('GET /webhooks/deliveries', TASK_OPERATIONS.adminListDeliveries, { page: 'GET /admin/deliveries' })
  listDeliveries(@CheckedQuery(DeliveriesQuery) list: DeliveriesQuery, @Reply() response: Response) {
    const {
      account_id: accountId = null,
      endpoint_id: endpointId = null,
      task_id: taskId = null,
      status = null,
    } = list;
    return sendList(response, list, (page) => this.deliveries.find({ accountId, endpointId, taskId, status }, page));
  }

  /** Sends a delivery again at once, under the same id. */
  @OperatorRoute('POST /webhooks/deliveries/:delivery_id/redeliver', TASK_OPERATIONS.adminRedeliver, {
    page: 'POST /admin/deliveries/:delivery_id/resend',
  })
  async redeliver(@Param('delivery_id') deliveryId: string, @Req() request: Request) {
    return viewOfRow(await this.deliveries.redeliver(operatorOf(request), deliveryId));
  }
}

async function readInTime<Result>(source: string, read: () => Promise<Result>): Promise<Result | null> {
  try {
    return await within(read(), SOURCE_LIMIT_MS);
  } catch (error) {
    log.warn('health.source_failed', { source, error });
    return null;
  }
}

async function readQueue(queue: WakeupQueue): Promise<AdminHealth['queues'][number]> {
  const found = await readInTime(`queue ${queue.name}`, () =>
    Promise.all([queue.getJobCounts('waiting', 'active', 'failed'), queue.isPaused()]),
  );
  if (!found) return { name: queue.name, state: 'silent', waiting: 0, active: 0, failed: 0 };
  const [{ waiting = 0, active = 0, failed = 0 }, isPaused] = found;
  return { name: queue.name, state: isPaused ? 'paused' : 'active', waiting, active, failed };
}

type ConcernValues = Partial<Pick<AdminConcern, 'name' | 'count' | 'seconds'>>;
const concern =
  (tone: AdminConcern['tone']) =>
  (code: AdminConcern['code'], values: ConcernValues = {}) => ({
    tone,
    code,
    name: '',
    count: 0,
    seconds: 0,
    ...values,
  });
const bad = concern('bad');
const warn = concern('warn');
const counted = (code: AdminConcern['code'], count: number): AdminConcern[] =>
  count > 0 ? [warn(code, { count })] : [];

const concernsOfReadiness = ({ status, reasons }: Readiness): AdminConcern[] =>
  reasons.map((name) => (status === 'not_ready' ? bad('part', { name }) : warn('part', { name })));

function concernsOfFleet({ money, due, polls, webhooks }: FleetState): AdminConcern[] {
  return [
    ...(money.mismatchMicros === 0n ? [] : [bad('books_differ')]),
    ...due
      .filter(({ oldest }) => oldest > LATE.task)
      .map(({ medium, due: count, oldest }) => bad('tasks_late', { name: medium, count, seconds: oldest })),
    ...(polls.oldest > LATE.poll ? [bad('polls_late', { count: polls.due, seconds: polls.oldest })] : []),
    ...(webhooks.lag > LATE.webhook ? [bad('webhooks_late', { seconds: webhooks.lag })] : []),
    ...counted('webhooks_failed', webhooks.failedLately),
  ];
}

function concernsOfBooks(report: ReconciliationReport): AdminConcern[] {
  const isOld = Date.now() - report.finishedAt.getTime() > RECONCILED_WITHIN_MS;
  return [
    ...(report.balanced ? [] : [bad('reconciliation_findings', { count: report.findings.length })]),
    ...(isOld ? [warn('reconciliation_old')] : []),
  ];
}

const concernsOfTasks = ({ parked, unconfirmed, orphans }: TasksNeedingAttention): AdminConcern[] => [
  ...counted('parked', parked.length),
  ...counted('unconfirmed', unconfirmed.length),
  ...counted('orphans', orphans.length),
];

function concernsOfWorkers(workers: readonly WorkerView[]): AdminConcern[] {
  const isLive = (name: string): boolean => workers.some(({ role, status }) => role === name && status === 'live');
  return [
    ...ROLES.filter((name) => !isLive(name)).map((name) => bad('no_worker', { name })),
    ...counted('workers_silent', workers.filter(({ status }) => status === 'silent').length),
  ];
}

function concernsOfUpstream({ id, problem, health: { state } }: AdminUpstream): AdminConcern[] {
  if (state === 'cooling_down') return [bad('upstream_cooling', { name: id })];
  return state === 'problem' ? [bad('upstream_problem', { name: `${id}: ${problem}` })] : [];
}
