import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { VendorCallbacksService } from '#features';
import { Route, Routes } from '../../http/route.js';

/** Calls of vendors. Their addresses are sealed, so the address itself is the permission. */
@Controller('callbacks/v1')
@Routes({ style: 'callbacks', access: 'open' })
export class CallbacksController {
  constructor(private readonly callbacks: VendorCallbacksService) {}

  /** Hears that something happened to an order. */
  @Post(':upstream/:token')
  @HttpCode(200)
  @Route({ operation: [], body: 'unread', answer: 'native' })
  async hear(@Param('upstream') upstream: string, @Param('token') token: string): Promise<Record<string, never>> {
    await this.callbacks.hear(upstream, token);
    return {};
  }
}
