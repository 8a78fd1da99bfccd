import { type DynamicModule, Module } from '@nestjs/common';
import type { Medium } from '#contracts';
import { Cooldowns, createCooldowns } from '#platform';
import { type Platform, PlatformModule, workerId } from '#runtime';
import { CALLBACK_BASE_URL, CallbackAddresses } from '../poll/vendor-callbacks.js';
import { CallJournal } from '../start/call-journal.js';
import { MediaCircuits } from '../../upstreams/upstream-circuits.js';
import { MediaMetrics } from './media-metrics.js';
import { MediaRouter, MediaUpstreams } from '../../upstreams/media-upstreams.js';
import { AdmissionController } from '../start/admission-controller.js';
import { WorkerHeartbeat } from '../../observability/worker-heartbeat.js';
import { PollSchedule } from '../poll/poll-schedule.js';
import { UpstreamPollers } from '../poll/upstream-poller.js';
import { SettleTaskService } from '../settle/settle-task.service.js';
import { TaskTransitions } from '../task-transitions.js';
import { AdvanceTaskService } from './advance-task.service.js';
import { DeadlineKeeper } from './deadline-keeper.js';
import { UpstreamSubmitter } from '../start/upstream-submitter.js';
import { MediaWorker } from './media-worker.js';
import { ReferenceCheck, StartStep } from '../start/start-step.js';
import { storeLimitsOf } from '../store/result-files.js';
import { StoreStep } from '../store/store-step.js';
import { TaskWorker } from './task-worker.js';
import { UpstreamLimits } from '../upstream-limits.js';
import { CALL_GRACE_MS, CONCURRENCY, LEASE_MS, MEDIUM, STORE_LIMITS } from '../injection-tokens.js';

@Module({
  providers: [
    AdvanceTaskService,
    CallbackAddresses,
    CallJournal,
    DeadlineKeeper,
    MediaCircuits,
    MediaMetrics,
    MediaWorker,
    PollSchedule,
    SettleTaskService,
    AdmissionController,
    StartStep,
    StoreStep,
    TaskWorker,
    UpstreamLimits,
    UpstreamPollers,
    UpstreamSubmitter,
  ],
})
export class MediaWorkerModule {
  /** @param concurrency how many steps it works on at once. */
  static register(medium: Medium, concurrency: number, platform: Platform, upstreams: MediaUpstreams): DynamicModule {
    const { config, database, fetcher, store, taskSignals } = platform;
    const id = workerId(medium);
    const inspectTimeoutMs = config.media.MEDIA_INSPECT_TIMEOUT_SECONDS * 1000;
    const leaseMs = config.worker.TASK_LEASE_SECONDS * 1000;
    const identity = { id, role: `${medium}-worker`, concurrency } as const;
    return {
      module: MediaWorkerModule,
      imports: [PlatformModule.register(platform)],
      providers: [
        { provide: CALLBACK_BASE_URL, useValue: config.server.PUBLIC_BASE_URL?.replace(/\/+$/, '') },
        { provide: MEDIUM, useValue: medium },
        { provide: CONCURRENCY, useValue: concurrency },
        { provide: LEASE_MS, useValue: leaseMs },
        { provide: CALL_GRACE_MS, useValue: config.worker.CALL_GRACE_SECONDS * 1000 },
        { provide: STORE_LIMITS, useValue: storeLimitsOf(config.media) },
        { provide: Cooldowns, useValue: createCooldowns(config.queue, database, platform.isOnlyProcess) },
        { provide: MediaUpstreams, useValue: upstreams },
        { provide: MediaRouter, useValue: new MediaRouter(upstreams) },
        { provide: ReferenceCheck, useValue: new ReferenceCheck(fetcher, inspectTimeoutMs, store) },
        { provide: TaskTransitions, useValue: new TaskTransitions(database, taskSignals, id, leaseMs) },
        { provide: WorkerHeartbeat, useValue: new WorkerHeartbeat(database, identity, leaseMs) },
      ],
    };
  }
}
