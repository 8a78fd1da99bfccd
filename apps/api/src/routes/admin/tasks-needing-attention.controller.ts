import { Controller, Get } from '@nestjs/common';
import { TasksNeedingAttentionService } from '#features';
import { Route, Routes } from '../../http/route.js';
import { viewOf } from '../../row-view.js';
import { TASK_OPERATIONS } from './admin.openapi.js';

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
