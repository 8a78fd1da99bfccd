import { Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DeliverySearchService, WorkersService } from '#features';
import { checked } from '../checked-input.js';
import { Route, Routes } from '../http/route.js';
import { viewOf, viewOfRow } from '../row-view.js';
import { sendList } from '../send-list.js';
import { operatorOf } from './admin-gate.js';
import { TASK_OPERATIONS } from './admin.openapi.js';
import { DeliveriesQuery, WorkersQuery } from './task.dto.js';

/** Webhook deliveries of all accounts, and the worker processes. */
@Controller('admin/v1')
@Routes({ style: 'admin', access: 'operator' })
export class FleetController {
  constructor(
    private readonly deliveries: DeliverySearchService,
    private readonly workers: WorkersService,
  ) {}

  @Get('webhooks/deliveries')
  @Route({ operation: TASK_OPERATIONS.adminListDeliveries })
  listDeliveries(@Query() query: unknown, @Res({ passthrough: true }) response: Response): Promise<unknown> {
    const list = checked(DeliveriesQuery, query);
    const {
      account_id: accountId = null,
      endpoint_id: endpointId = null,
      task_id: taskId = null,
      status = null,
    } = list;
    return sendList(response, list, (page) => this.deliveries.find({ accountId, endpointId, taskId, status }, page));
  }

  /** Sends a delivery again at once, under the same id. */
  @Post('webhooks/deliveries/:delivery_id/redeliver')
  @Route({ operation: TASK_OPERATIONS.adminRedeliver })
  @HttpCode(200)
  async redeliver(@Param('delivery_id') deliveryId: string, @Req() request: Request): Promise<unknown> {
    return viewOfRow(await this.deliveries.redeliver(operatorOf(request), deliveryId));
  }

  @Get('workers')
  @Route({ operation: TASK_OPERATIONS.adminListWorkers })
  async listWorkers(@Query() query: unknown): Promise<unknown> {
    const { all } = checked(WorkersQuery, query);
    return (await this.workers.list(all === 'true')).map(viewOf);
  }
}
