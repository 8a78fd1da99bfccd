import type { TaskView } from '#contracts';
import { type Caller, ReadTaskService } from '#features';
import { Controller, Get, Param, Res, UseGuards } from '@nestjs/common';
import type { Response } from 'express';
import { ApiKeyGuard, CurrentCaller } from '../door/api-key.guard.js';

/** How long a client should wait before it asks for an unfinished task again, in seconds. */
const RETRY_AFTER_SECONDS = { video: 3, image: 1 } as const;

/** Task polling (D1 section 4, `/v1/tasks/{task_id}`). */
@Controller('v1/tasks')
@UseGuards(ApiKeyGuard)
export class TasksController {
  constructor(private readonly tasks: ReadTaskService) {}

  /** How a task stands, and what it made. */
  @Get(':task_id')
  async read(
    @CurrentCaller() caller: Caller,
    @Param('task_id') taskId: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<{ code: 200; data: TaskView }> {
    const task = await this.tasks.read(caller.accountId, taskId);
    response.setHeader('cache-control', 'no-store');
    if (!task.usage.final) response.setHeader('retry-after', RETRY_AFTER_SECONDS[task.type]);
    return { code: 200, data: task };
  }
}
