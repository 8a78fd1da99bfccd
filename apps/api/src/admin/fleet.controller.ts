import { DeliverySearchService, WorkersService } from '#features';
import { Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { checked } from '../checked-input.js';
import { viewOf, viewOfRow } from '../row-view.js';
import { sendList } from '../send-list.js';
import { operatorOf } from './admin-gate.js';
import { DeliveriesQuery, WorkersQuery } from './task.dto.js';

/** Webhook deliveries of all accounts, and the worker processes. */
@Controller('admin/v1')
export class FleetController {
  constructor(
    private readonly deliveries: DeliverySearchService,
    private readonly workers: WorkersService,
  ) {}

  @Get('webhooks/deliveries')
  listDeliveries(@Query() query: unknown, @Res() response: Response): Promise<void> {
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
  @HttpCode(200)
  async redeliver(@Param('delivery_id') deliveryId: string, @Req() request: Request): Promise<object> {
    return { code: 200, data: viewOfRow(await this.deliveries.redeliver(operatorOf(request), deliveryId)) };
  }

  @Get('workers')
  async listWorkers(@Query() query: unknown): Promise<object> {
    const { all } = checked(WorkersQuery, query);
    return { code: 200, data: (await this.workers.list(all === 'true')).map(viewOf) };
  }
}
