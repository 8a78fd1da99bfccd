import { addAbortSignal, type Readable } from 'node:stream';
import { Controller, Param, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { isJsonObject, type JsonObject } from '#contracts';
import { VendorCallbacksService } from '#features';
import { abortAfter } from '#platform';
import { Route, Routes } from '../../http/route.js';

const MAX_BYTES = 64 * 1024;
/** Vendors give up after 3 s. */
const TIMEOUT_MS = 2_000;

/** What a vendor sent, if it is a JSON object of at most 64 KiB that arrives in time; the rest is left unread. */
async function callbackBody(request: Readable): Promise<JsonObject | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    addAbortSignal(abortAfter(TIMEOUT_MS), request);
    // A body that is too long is no reason to hang up.
    const parts: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
    for await (const chunk of parts) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) return undefined;
      chunks.push(chunk);
    }
    const sent: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return isJsonObject(sent) ? (sent as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** Calls of vendors. Their addresses are sealed, so the address itself is the permission. */
@Controller('callbacks/v1')
@Routes({ style: 'callbacks', access: 'open' })
export class CallbacksController {
  constructor(private readonly callbacks: VendorCallbacksService) {}

  /** Hears that something happened to an order. */
  @Post(':upstream/:token')
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
