import { Inject, Injectable } from '@nestjs/common';
import type { Medium } from '#contracts';
import { Database, PeriodicTask } from '#platform';
import { MediaUpstreams } from '../../upstreams/media-upstreams.js';
import { MediaCircuits } from '../../upstreams/upstream-circuits.js';
import { possiblySpooled } from '../store/result-files.js';
import { askToStop } from '../vendor-call.js';
import { SettleTaskService } from '../settle/settle-task.service.js';
import { WorkSlots } from '../work-slots.js';
import { type OverdueTask, TaskTransitions } from '../task-transitions.js';

import { PausedWork } from '../../observability/paused-work.js';
import { MEDIUM } from '../injection-tokens.js';

/** How often overdue tasks are looked for, in milliseconds. */
const ROUND_MS = 1_000;
const BATCH = 100;
/** The longest wait for a vendor to stop work that is no longer needed, in milliseconds. */
const CANCEL_TIMEOUT_MS = 10_000;
/** The most vendors' words that are waited for at once: those of one that is silent for thousands of tasks are of no use. */
const STOPS_AT_ONCE = 1_000;

/** Ends tasks whose time is up, whatever they wait for, so that no hold stays forever. */
@Injectable()
export class DeadlineKeeper {
  private readonly loop: PeriodicTask;
  private readonly paused: PausedWork;
  private readonly stops = new WorkSlots(STOPS_AT_ONCE);

  constructor(
    @Inject(MEDIUM) private readonly medium: Medium,
    private readonly transitions: TaskTransitions,
    private readonly settlement: SettleTaskService,
    private readonly upstreams: MediaUpstreams,
    database: Database,
    private readonly circuits: MediaCircuits,
  ) {
    this.paused = new PausedWork(database);
    this.loop = new PeriodicTask(`deadlines-${medium}`, ROUND_MS, () => this.failOverdue());
  }

  start(): void {
    this.loop.start();
  }

  async stop(): Promise<void> {
    await this.loop.stop();
    await this.stops.empty();
  }

  private async failOverdue(): Promise<boolean> {
    const overdue = await this.transitions.pastDeadline(this.medium, BATCH);
    await Promise.all(overdue.map((task) => this.paused.attempt('deadline', task.id, () => this.fail(task))));
    return overdue.length === BATCH;
  }

  private async fail(task: OverdueTask): Promise<void> {
    const unknown = task.state === 'submitting' && task.startedUpstream;
    const [code, message] = unknown
      ? ([
          'upstream_unknown',
          'The vendor never confirmed that it took the order. It was not sent again, and nothing was charged.',
        ] as const)
      : (['deadline_exceeded', 'The task did not finish within its time limit; nothing was charged.'] as const);
    const ended = await this.settlement.failUnclaimed(this.withKept(task), [task.state], code, message);
    if (!ended) return;
    this.countForVendor(task);
    // Beside the loop: a vendor that is silent must not keep the tasks of others open.
    if (this.stops.free > 0) this.stops.fill(this.stopVendor(task));
  }

  /** It took the order and was not done with it in time; what its owner wanted stopped says nothing. */
  private countForVendor({ state, upstream_id: upstreamId, model, accountId, cancelRequested }: OverdueTask): void {
    const routed = state === 'running' && !cancelRequested ? this.upstreams.byId(upstreamId ?? '') : undefined;
    if (routed) this.circuits.recordFailedWork(routed, { model, accountId });
  }

  private withKept(task: OverdueTask): OverdueTask {
    if (task.outputs || !task.operation) return task;
    return { ...task, outputs: possiblySpooled(this.upstreams.byId(task.upstream_id ?? '')?.upstream, task.operation) };
  }

  /** Best effort: work that will not be fetched may still cost the gateway money. */
  private async stopVendor({ id, upstream_id: upstreamId, operation }: OverdueTask): Promise<void> {
    if (!upstreamId || !operation) return;
    const upstream = this.upstreams.byId(upstreamId)?.upstream;
    if (upstream?.cancel) await askToStop(upstream, { taskId: id, operation }, CANCEL_TIMEOUT_MS);
  }
}
