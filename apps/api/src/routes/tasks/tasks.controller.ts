import { Body, Controller, Get, HttpCode, Param, Post, Query, Req, Res, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { TaskView } from '#contracts';
import {
  type Caller,
  CancelTaskService,
  FollowTaskService,
  onlyOwnKey,
  OpenWaits,
  ReadTaskService,
  readTaskListQuery,
} from '#features';
import { ApiKeyGuard, CurrentCaller } from '../../http/api-key.guard.js';
import { DataWith, envelope } from '../../http/envelope.js';
import { Route, Routes } from '../../http/route.js';
import { SerializedBody } from '../../http/serialized-body.js';
import { clientGone } from '../../http/client-gone.js';
import { requestedWait } from './requested-wait.js';
import { retryAfterSeconds } from './retry-after.js';
import { readTaskIds } from './task-ids.js';
import { TASK_OPERATIONS } from './tasks.openapi.js';

/** How tasks stand (D1 section 4, `/v1/tasks/{task_id}`), many at once, and how to stop one. */
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
  @Route({ operation: TASK_OPERATIONS.listTasks, cost: 'free' })
  async list(
    @CurrentCaller() caller: Caller,
    @Query() query: Record<string, unknown>,
    @Res({ passthrough: true }) response: Response,
  ): Promise<DataWith<readonly TaskView[]>> {
    const { tasks, nextCursor } = await this.tasks.list(caller.accountId, readTaskListQuery(query), onlyOwnKey(caller));
    response.setHeader('cache-control', 'no-store');
    return new DataWith(tasks, { has_more: nextCursor !== null, next_cursor: nextCursor });
  }

  /** Up to 100 tasks by id; those the account does not have are named, not refused. */
  @Post('batch')
  @Route({ operation: TASK_OPERATIONS.readTasks, cost: 'free' })
  @HttpCode(200)
  async batch(
    @CurrentCaller() caller: Caller,
    @Body() body: unknown,
    @Res({ passthrough: true }) response: Response,
  ): Promise<DataWith<readonly TaskView[]>> {
    const taskIds = readTaskIds(body);
    const tasks = await this.tasks.readMany(caller.accountId, await this.tasks.ownOf(onlyOwnKey(caller), taskIds));
    const found = new Set(tasks.map(({ task_id }) => task_id));
    response.setHeader('cache-control', 'no-store');
    return new DataWith(tasks, { not_found: taskIds.filter((taskId) => !found.has(taskId)) });
  }

  /** How a task stands, and what it made. With `wait`, the answer is held back until the status changes. */
  @Get(':task_id')
  // Polled more than anything else: an interceptor would cost a tenth of it.
  @Route({ operation: TASK_OPERATIONS.readTask, answer: 'native' })
  async read(
    @CurrentCaller() caller: Caller,
    @Param('task_id') taskId: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
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
  @HttpCode(200)
  async cancel(
    @CurrentCaller() caller: Caller,
    @Param('task_id') taskId: string,
    @Res({ passthrough: true }) response: Response,
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
