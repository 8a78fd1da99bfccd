import { Controller, HttpCode, Param, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import type { JsonObject } from '#contracts';
import { VendorCallbacksService } from '#features';
import { Route, Routes } from '../../http/route.js';
import { callbackBody } from './callback-body.js';

/** Calls of vendors. Their addresses are sealed, so the address itself is the permission. */
@Controller('callbacks/v1')
@Routes({ style: 'callbacks', access: 'open' })
export class CallbacksController {
  constructor(private readonly callbacks: VendorCallbacksService) {}

  /** Hears that something happened to an order. */
  @Post(':upstream/:token')
  @HttpCode(200)
  @Route({ operation: [], body: 'unread', answer: 'native' })
  hear(
    @Param('upstream') upstream: string,
    @Param('token') token: string,
    @Req() request: Request,
  ): Promise<JsonObject> {
    const { method, headers, originalUrl } = request;
    const query = originalUrl.split('?', 2)[1] ?? '';
    return this.callbacks.receive({ upstream, token, method, query, headers, body: () => callbackBody(request) });
  }
}
