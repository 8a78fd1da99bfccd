import { errorInStyle, ERRORS, type GatewayError, statusInStyle } from '#contracts';
import { logger } from '#platform';
import { type ArgumentsHost, Catch, type ExceptionFilter, NotFoundException } from '@nestjs/common';
import type { Request, Response } from 'express';
import { toConsoleFailure, toErrorBody, toGatewayError } from './error-body.js';
import { isKeptAlive } from './keep-alive.js';
import { isTextStyle } from './route-facts.js';
import type { UnknownPaths } from './unknown-path.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Why the request was refused or failed; undefined when it was neither. */
    failureCode?: GatewayError['code'];
  }
}

const log = logger('http');

/** Turns whatever was thrown into an answer. The only place that writes error statuses. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly unknownPaths: UnknownPaths) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const error = isWithoutRoute(thrown, request)
      ? this.unknownPaths.refusal(request.method, request.path)
      : toGatewayError(thrown);
    logFailure(error, request);
    const { style } = request.match.facts;
    if (response.headersSent) {
      if (isKeptAlive(response) && isTextStyle(style))
        response.end(JSON.stringify(errorInStyle(style, error, request.requestId)));
      else response.destroy().end();
      return;
    }
    if (error.retryAfterMs !== undefined) {
      response.setHeader('retry-after', Math.ceil(error.retryAfterMs / 1000));
      response.setHeader('retry-after-ms', Math.ceil(error.retryAfterMs));
    }
    if (error.status === 429)
      response.setHeader('x-gateway-limited-by', error.code === 'upstream_rate_limited' ? 'upstream' : 'gateway');
    for (const [name, value] of Object.entries(error.headers ?? {})) response.setHeader(name, value);
    if (isTextStyle(style)) {
      // Client libraries obey this before their own idea of which statuses pass.
      response.setHeader('x-should-retry', String(ERRORS[error.code].retryable));
      response.status(statusInStyle(style, error)).json(errorInStyle(style, error, request.requestId));
    } else {
      const body = style === 'console' ? toConsoleFailure(error, request.requestId) : toErrorBody(error);
      response.status(error.status).json(body);
    }
  }
}

/** Nest says so when no route fits; routes that miss something they were asked for come after one did. */
const isWithoutRoute = (thrown: unknown, request: Request): boolean =>
  thrown instanceof NotFoundException && request.match.pattern === undefined;

function logFailure(error: GatewayError, request: Request): void {
  const { requestId, method, path } = request;
  const fields = { requestId, code: error.code, status: error.status, method, path };
  request.failureCode = error.code;
  if (error.status < 500) log.debug('request.refused', fields);
  else if (error.code === 'internal_error') log.error('request.failed', { ...fields, error: error.cause ?? error });
  // Foreseen, so a stack would explain nothing; its cause, if it has one, is named in `detail`.
  else log.warn('request.failed', { ...fields, detail: error.message, cause: causeOf(error) });
}

const causeOf = ({ cause }: GatewayError): string | undefined =>
  cause instanceof Error ? `${cause.name}: ${cause.message}` : undefined;
