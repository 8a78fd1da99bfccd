import { Inject, Injectable } from '@nestjs/common';
import { type MediaStore } from '#media';
import { SafeFetcher } from '#platform';
import { FAILPOINTS, type Failpoints, MEDIA_STORE, TASK_NOTIFIER, type TaskNotifier } from '#runtime';
import { CallbackAddresses } from '../poll/vendor-callbacks.js';
import { CallJournal } from '../start/call-journal.js';
import { MediaCircuits } from '../../upstreams/upstream-circuits.js';
import { MediaRouter, MediaUpstreams } from '../../upstreams/media-upstreams.js';
import { StartGate } from '../start/admission-controller.js';
import { PollSchedule } from '../poll/poll-schedule.js';
import { SettleTaskService } from '../settle/settle-task.service.js';
import { TaskTransitions } from '../task-transitions.js';
import { ReferenceCheck } from '../start/reference-check.js';
import type { StoreLimits } from '../store/result-files.js';
import { UpstreamLimits } from '../upstream-limits.js';

/** Injects the Medium of a worker's tasks. */
export const MEDIUM = Symbol('Medium');
/** Injects how many steps (a number) a worker works on at once. */
export const CONCURRENCY = Symbol('concurrency');
/** Injects how long (a number of milliseconds) what a worker claimed is its own without renewing. */
export const LEASE_MS = Symbol('lease');

/** Injects the StoreLimits. */
export const STORE_LIMITS = Symbol('store limits');
/** Injects how long (a number of milliseconds) calls of vendors may continue when the process is stopped. */
export const CALL_GRACE_MS = Symbol('call grace');

/** What the steps and polls of one worker share. Each names those that it needs. */
@Injectable()
export class WorkerParts {
  constructor(
    readonly transitions: TaskTransitions,
    readonly settlement: SettleTaskService,
    readonly schedule: PollSchedule,
    readonly limits: UpstreamLimits,
    readonly references: ReferenceCheck,
    readonly upstreams: MediaUpstreams,
    readonly router: MediaRouter,
    readonly circuits: MediaCircuits,
    readonly gate: StartGate,
    readonly journal: CallJournal,
    readonly fetcher: SafeFetcher,
    readonly callbacks: CallbackAddresses,
    @Inject(MEDIA_STORE) readonly store: MediaStore,
    @Inject(FAILPOINTS) readonly failpoints: Failpoints,
    @Inject(TASK_NOTIFIER) readonly notifier: TaskNotifier,
    @Inject(STORE_LIMITS) readonly storeLimits: StoreLimits,
    /** If this process dies, another continues after that time. */
    @Inject(LEASE_MS) readonly leaseMs: number,
  ) {}
}
