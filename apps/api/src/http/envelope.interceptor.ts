import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { map, type Observable } from 'rxjs';
import { DataWith, envelope } from './envelope.js';
import { SerializedBody } from './serialized-body.js';

/** Puts what a handler returns into the envelope. Text that is ready to be sent, and what was streamed, stay as they are. */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const response = context.switchToHttp().getResponse<Response>();
    return next.handle().pipe(map((value: unknown) => enveloped(value, response)));
  }
}

function enveloped(value: unknown, { headersSent, statusCode }: Response): unknown {
  if (headersSent || value instanceof SerializedBody) return value;
  return value instanceof DataWith ? value.enveloped(statusCode) : envelope(value, statusCode);
}
