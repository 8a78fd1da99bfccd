import { Inject, Injectable } from '@nestjs/common';
import { Cooldowns } from '#platform';
import { type Worker } from '#runtime';
import { WorkerHeartbeat } from '../../observability/worker-heartbeat.js';
import { UpstreamPollers } from '../poll/upstream-poller.js';
import { DeadlineKeeper } from './deadline-keeper.js';
import { ABANDON_GRACE_MS, endedWithin } from '../step-limit.js';
import { TaskWorker } from './task-worker.js';
import { CALL_GRACE_MS } from '../injection-tokens.js';

/** The worker of one medium: it does the steps of its tasks and asks vendors about running ones. */
@Injectable()
export class MediaWorker implements Worker {
  constructor(
    private readonly heartbeat: WorkerHeartbeat,
    private readonly worker: TaskWorker,
    private readonly pollers: UpstreamPollers,
    private readonly deadlines: DeadlineKeeper,
    private readonly cooldowns: Cooldowns,
    @Inject(CALL_GRACE_MS) private readonly callGraceMs: number,
  ) {}

  start(): void {
    for (const part of [this.heartbeat, this.worker, this.pollers, this.deadlines]) part.start();
  }

  async stop(graceMs: number): Promise<void> {
    const stoppingSaid = endedWithin(this.heartbeat.stopping(), ABANDON_GRACE_MS);
    const { callGraceMs } = this;
    const stopped = Promise.all([
      this.deadlines.stop(),
      this.pollers.stop(graceMs),
      this.worker.stop(graceMs, callGraceMs),
    ]);
    // Whatever hangs: this process ends in its time, and what it held is given to others when its leases are over.
    await endedWithin(stopped, graceMs);
    if (this.worker.callsUnderWay > 0) await endedWithin(stopped, Math.max(0, callGraceMs - graceMs));
    await stoppingSaid;
    await endedWithin(this.heartbeat.gone(), ABANDON_GRACE_MS);
    await endedWithin(this.cooldowns.close(), ABANDON_GRACE_MS);
  }
}
