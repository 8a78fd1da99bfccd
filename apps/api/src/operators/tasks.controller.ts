import { Body, Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { TaskOverview, TaskRemediesService, TaskSearchService, TasksNeedingAttentionService } from '#features';
import { amountOf, checked } from '../checked-input.js';
import { clientGone } from '../http/client-gone.js';
import { Route, Routes } from '../http/route.js';
import { viewOf } from '../row-view.js';
import { sendList } from '../send-list.js';
import { operatorOf } from './admin-gate.js';
import { TASK_OPERATIONS } from './admin.openapi.js';
import { ReasonBody, RefundBody, TaskSearchQuery, toTaskSearch } from './task.dto.js';

/** Tasks of all accounts, and what can be done for them. No answer shows what was asked for or made. */
@Controller('admin/v1/tasks')
@Routes({ style: 'admin', access: 'operator' })
export class AdminTasksController {
  constructor(
    private readonly search: TaskSearchService,
    private readonly overview: TaskOverview,
    private readonly remedies: TaskRemediesService,
  ) {}

  @Get()
  @Route({ operation: TASK_OPERATIONS.adminSearchTasks })
  list(@Query() query: unknown, @Res({ passthrough: true }) response: Response): Promise<unknown> {
    const list = checked(TaskSearchQuery, query);
    const search = toTaskSearch(list);
    return sendList(response, list, (page) => this.search.find(search, page));
  }

  /** One task with its timeline, ledger entries, usage and webhook deliveries. */
  @Get(':task_id')
  @Route({ operation: TASK_OPERATIONS.adminReadTask })
  async read(@Param('task_id') taskId: string): Promise<unknown> {
    return viewOf(await this.overview.read(taskId));
  }

  /** Stops it, as its owner can. */
  @Post(':task_id/cancel')
  @Route({ operation: TASK_OPERATIONS.adminCancelTask })
  @HttpCode(200)
  async cancel(
    @Param('task_id') taskId: string,
    @Body() body: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<unknown> {
    const { reason = null } = checked(ReasonBody, body ?? {});
    const task = await this.remedies.cancel(operatorOf(request), taskId, reason, clientGone(response));
    const { status, cancellation = null } = task;
    if (!task.usage.final) response.status(202);
    return { task_id: taskId, status, cancellation };
  }

  /** Gives money back, once for each reference. */
  @Post(':task_id/refund')
  @Route({ operation: TASK_OPERATIONS.adminRefundTask })
  @HttpCode(200)
  async refund(@Param('task_id') taskId: string, @Body() body: unknown, @Req() request: Request): Promise<unknown> {
    const { amount, reference, reason } = checked(RefundBody, body);
    const amountMicros = amount === undefined ? null : amountOf(amount, 'amount');
    const refunded = await this.remedies.refund(operatorOf(request), { taskId, amountMicros, reference, reason });
    return viewOf(refunded);
  }

  /** Sends a failed task again, as a new one. */
  @Post(':task_id/redrive')
  @Route({ operation: TASK_OPERATIONS.adminRedriveTask })
  @HttpCode(200)
  async redrive(@Param('task_id') taskId: string, @Body() body: unknown, @Req() request: Request): Promise<unknown> {
    const { reason = null } = checked(ReasonBody, body ?? {});
    return this.remedies.redrive(operatorOf(request), taskId, reason);
  }
}

/** Tasks that an operator should check. */
@Controller('admin/v1/tasks-needing-attention')
@Routes({ style: 'admin', access: 'operator' })
export class TasksNeedingAttentionController {
  constructor(private readonly tasks: TasksNeedingAttentionService) {}

  /** Tasks that were given up, orders no vendor has confirmed, and work at vendors that no task holds. */
  @Get()
  @Route({ operation: TASK_OPERATIONS.adminListTasksNeedingAttention })
  async list(): Promise<unknown> {
    return viewOf(await this.tasks.list());
  }
}
