import { MODEL_IDS, SPECIFIED_TEXT_MODELS } from '#contracts';
import { enterSpan, logger, signals } from '#platform';
import type { NextFunction, Request, Response } from 'express';
import { styleOf } from './request-style.js';

const log = logger('door');

const MODELS: ReadonlySet<string> = new Set([...MODEL_IDS, ...SPECIFIED_TEXT_MODELS.map(({ id }) => id)]);

/** Counts, times, traces and logs every request from its first byte to the last of its answer, streams included. */
export function observeRequest(request: Request, response: Response, next: NextFunction): void {
  const startedAt = performance.now();
  const style = styleOf(request.path);
  signals.httpInFlight.inc({ style });
  const subject = {
    name: request.method,
    kind: 'server',
    carrier: request.headers,
    attributes: { 'http.request.method': request.method, 'gateway.style': style },
  } as const;
  const span = enterSpan(subject, next);
  response.once('close', () => {
    const seconds = (performance.now() - startedAt) / 1000;
    const { method } = request;
    const route = routeOf(request);
    // A client that went away before the end is its own outcome, not a success.
    const code = response.writableFinished ? response.statusCode : 499;
    signals.httpInFlight.dec({ style });
    signals.httpDuration.observe({ method, route, style, status: `${Math.floor(code / 100)}xx` }, seconds);
    signals.httpRequests.inc({ route, style, model: modelOf(request), code });
    log.debug('request.answered', { requestId: request.requestId, method, route, code, durationMs: seconds * 1000 });
    span?.updateName(`${method} ${route}`);
    span?.setAttributes({
      'http.route': route,
      'http.response.status_code': code,
      'gateway.request_id': request.requestId,
    });
    span?.end();
  });
}

/** The pattern of the route, never the path itself, which anybody can make up. */
const routeOf = ({ route }: { route?: { path?: unknown } }): string =>
  typeof route?.path === 'string' ? route.path : 'none';

/** The model a request names, when the catalogue has it. */
function modelOf(request: Request): string {
  const body = request.body as { model?: unknown } | undefined;
  const { model, target } = request.params;
  // The content-generation style names model and method in one part of the path.
  const named = body?.model ?? model ?? (typeof target === 'string' ? target.split(':', 1)[0] : undefined);
  if (typeof named !== 'string') return 'none';
  return MODELS.has(named) ? named : 'other';
}
