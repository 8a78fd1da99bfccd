import { Body, Controller, Get, Param, Post, Query, Req, UseGuards } from '@nestjs/common';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsString } from 'class-validator';
import type { Request, Response } from 'express';
import { GatewayError, type TaskView } from '#contracts';
import {
  type Caller,
  CancelTaskService,
  FollowTaskService,
  onlyOwnKey,
  OpenWaits,
  readTaskListQuery,
  ReadTaskService,
} from '#features';
import { checked } from '../../checked-input.js';
import { ApiKeyGuard, CurrentCaller } from '../../http/api-key.guard.js';
import { clientGone } from '../../http/client-gone.js';
import { envelope } from '../../http/envelope.js';
import { Reply, Route, Routes } from '../../http/route.js';
import { SerializedBody } from '../../http/serialized-body.js';
import { TASK_OPERATIONS } from './tasks.openapi.js';

const TASK_IDS_MAX = 100;

/** An id that stands twice counts once. */
class TaskIdsBody {
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(TASK_IDS_MAX)
  @IsString({ each: true })
  task_ids!: string[];
}

/** The longest advice for each medium, in seconds. */
const LONGEST_SECONDS = { video: 10, image: 4 } as const;

/**
 * When to ask for an unfinished task again, in seconds: after a fifth of the time it has taken so far, so that short
 * work is noticed soon and long work is not asked about for nothing.
 */
function retryAfterSeconds({ type, created }: TaskView): number {
  return Math.min(LONGEST_SECONDS[type], Math.max(1, Math.round((Date.now() / 1000 - created) / 5)));
}

/** The longest a request is held open, in seconds; common proxies cut at 60 and more. */
const LONGEST_WAIT_SECONDS = 55;

/** How long the client wants its answer held back. */
interface RequestedWait {
  readonly seconds: number;
  /** What to answer in `Preference-Applied`, when the wait was asked for as a preference. */
  readonly preferenceApplied: string | null;
}

/**
 * Reads `?wait=30`, or else `Prefer: wait=30` (RFC 7240). The query is a demand and refused beyond its bounds; a
 * preference is met as far as possible, and the answer says how far.
 *
 * @throws GatewayError `invalid_parameter`: `wait` is not a whole number of seconds within its bounds.
 */
function requestedWait(request: Request): RequestedWait {
  const { wait } = request.query;
  if (wait !== undefined) {
    const seconds = typeof wait === 'string' && /^\d{1,4}$/.test(wait) ? Number(wait) : -1;
    if (seconds >= 0 && seconds <= LONGEST_WAIT_SECONDS) return { seconds, preferenceApplied: null };
    const message = `wait must be a whole number of seconds from 0 to ${LONGEST_WAIT_SECONDS}.`;
    throw new GatewayError('invalid_parameter', message, { param: 'wait' });
  }
  const preferred = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?/i.exec(request.get('prefer') ?? '')?.[1];
  if (preferred === undefined) return { seconds: 0, preferenceApplied: null };
  const seconds = Math.min(Number(preferred), LONGEST_WAIT_SECONDS);
  return { seconds, preferenceApplied: `wait=${seconds}` };
}

/**
 * How a task stands, or many at once, and how to stop one. Reads write their own envelope, because they are asked for more
 * than anything else, and an interceptor would cost a tenth of one.
 */
@Controller('v1/tasks')
@UseGuards(ApiKeyGuard)
@Routes({ style: 'tasks', scope: 'tasks:read' })
export class TasksController {
  constructor(
    private readonly tasks: ReadTaskService,
    private readonly follow: FollowTaskService,
    private readonly cancellation: CancelTaskService,
    private readonly waits: OpenWaits,
  ) {}

  /** The account's tasks, newest first, page by page. */
  @Get()
  @Route({ operation: TASK_OPERATIONS.listTasks, cost: 'free', answer: 'native' })
  async list(
    @CurrentCaller() caller: Caller,
    @Query() query: Record<string, unknown>,
    @Reply() response: Response,
  ): Promise<SerializedBody> {
    const asked = readTaskListQuery(query);
    const { items, nextCursor } = await this.tasks.list(caller.accountId, asked, onlyOwnKey(caller));
    response.setHeader('cache-control', 'no-store');
    return SerializedBody.json({ ...envelope(items), has_more: nextCursor !== null, next_cursor: nextCursor });
  }

  /** Up to 100 tasks by id; those the account does not have are named, not refused. */
  @Post('batch')
  @Route({ operation: TASK_OPERATIONS.readTasks, cost: 'free', answer: 'native' })
  async batch(
    @CurrentCaller() caller: Caller,
    @Body() body: unknown,
    @Reply() response: Response,
  ): Promise<SerializedBody> {
    const taskIds = [...new Set(checked(TaskIdsBody, body).task_ids)];
    const tasks = await this.tasks.readMany(caller.accountId, await this.tasks.ownOf(onlyOwnKey(caller), taskIds));
    const found = new Set(tasks.map(({ task_id }) => task_id));
    response.setHeader('cache-control', 'no-store');
    return SerializedBody.json({ ...envelope(tasks), not_found: taskIds.filter((taskId) => !found.has(taskId)) });
  }

  /** How a task stands, and what it made. With `wait`, the answer is held back until the status changes. */
  @Get(':task_id')
  @Route({ operation: TASK_OPERATIONS.readTask, answer: 'native' })
  async read(
    @CurrentCaller() caller: Caller,
    @Param('task_id') taskId: string,
    @Req() request: Request,
    @Reply() response: Response,
  ): Promise<SerializedBody> {
    const { seconds, preferenceApplied } = requestedWait(request);
    const apiKeyId = onlyOwnKey(caller);
    if (apiKeyId !== null) await this.tasks.expectOwn(apiKeyId, taskId);
    const task =
      seconds === 0
        ? await this.tasks.read(caller.accountId, taskId)
        : await this.waitFor(caller.accountId, taskId, seconds * 1000, request);
    if (preferenceApplied !== null) response.setHeader('preference-applied', preferenceApplied);
    setPollingHeaders(task, response);
    return SerializedBody.json(envelope(task));
  }

  private async waitFor(accountId: string, taskId: string, waitMs: number, request: Request): Promise<TaskView> {
    const leave = this.waits.enter(accountId);
    try {
      const signal = clientGone(request.res as Response);
      const task = await this.follow.waitUntil(accountId, taskId, statusChanged, { waitMs, signal });
      await request.expectStillAllowed?.();
      return task;
    } finally {
      leave();
    }
  }

  /** Stops a task and gives its hold back: at once while no vendor has it, else as soon as the vendor has stopped. */
  @Post(':task_id/cancel')
  @Route({ operation: TASK_OPERATIONS.cancelTask, cost: 'always', scope: 'tasks:cancel' })
  async cancel(
    @CurrentCaller() caller: Caller,
    @Param('task_id') taskId: string,
    @Reply() response: Response,
  ): Promise<TaskView> {
    await this.tasks.expectOwn(onlyOwnKey(caller), taskId);
    const task = await this.cancellation.cancel(caller.accountId, taskId, clientGone(response));
    setPollingHeaders(task, response);
    if (!task.usage.final) response.status(202);
    return task;
  }
}

const statusChanged = (task: TaskView, first: TaskView): boolean => task.usage.final || task.status !== first.status;

/** An answer about a task is never kept, and says when another will be worth asking for. */
function setPollingHeaders(task: TaskView, response: Response): void {
  response.setHeader('cache-control', 'no-store');
  if (!task.usage.final) response.setHeader('retry-after', retryAfterSeconds(task));
}
