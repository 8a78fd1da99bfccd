import { MODEL_IDS } from '#contracts';
import type { TextUpstreams } from '#features';
import { enterSpan, logger, signals } from '#platform';
import type { Request, RequestHandler } from 'express';
import { styleOf } from './request-style.js';

const log = logger('door');

const MEDIA_MODELS: ReadonlySet<string> = new Set(MODEL_IDS);

/**
 * Counts, times, traces and logs every request from its first byte to the last of its answer, streams included.
 *
 * @param textModels knows the text models there are at the moment.
 */
export function observeRequest(textModels: Pick<TextUpstreams, 'has'>): RequestHandler {
  const isModel = (name: string): boolean => MEDIA_MODELS.has(name) || textModels.has(name);
  return (request, response, next) => {
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
      const named = modelIn(request);
      const model = named === undefined ? 'none' : isModel(named) ? named : 'other';
      signals.httpRequests.inc({ route, style, model, code });
      log.debug('request.answered', { requestId: request.requestId, method, route, code, durationMs: seconds * 1000 });
      span?.updateName(`${method} ${route}`);
      span?.setAttributes({
        'http.route': route,
        'http.response.status_code': code,
        'gateway.request_id': request.requestId,
      });
      span?.end();
    });
  };
}

/** The pattern of the route, never the path itself, which anybody can make up. */
const routeOf = ({ route }: { route?: { path?: unknown } }): string =>
  typeof route?.path === 'string' ? route.path : 'none';

/** What a request names as its model, which anybody can make up. */
function modelIn(request: Request): string | undefined {
  const body = request.body as { model?: unknown } | undefined;
  const { model, target } = request.params;
  // The content-generation style names model and method in one part of the path.
  const named = body?.model ?? model ?? (typeof target === 'string' ? target.split(':', 1)[0] : undefined);
  return typeof named === 'string' ? named : undefined;
}
