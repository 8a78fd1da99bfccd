import { MODEL_IDS } from '#contracts';
import { openFacts, takeFacts, type TextUpstreams } from '#features';
import { enterSpan, eventLogger, markFailed, signals } from '#platform';
import type { Request, RequestHandler } from 'express';

const completed = eventLogger('http', 'request.completed');

const TASK = /^task_[0-9A-Z]{26}$/;

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
    const { style, cost } = request.match.facts;
    // What costs nothing has nothing to tell but what HTTP shows.
    if (cost !== undefined) openFacts(request.requestId);
    signals.httpInFlight.begin(style);
    const subject = {
      name: request.method,
      kind: 'server',
      carrier: request.headers,
      attributes: { 'http.request.method': request.method, 'gateway.style': style },
    } as const;
    const span = enterSpan(subject, next);
    response.on('close', () => {
      const seconds = (performance.now() - startedAt) / 1000;
      const { method } = request;
      const route = routeOf(request);
      // A client that went away before the end is its own outcome, not a success.
      const code = response.writableFinished ? response.statusCode : 499;
      signals.httpInFlight.end(style);
      signals.httpDuration.observe({ method, route, style, status: `${Math.floor(code / 100)}xx` }, seconds);
      const named = modelIn(request);
      const model = named === undefined ? 'none' : isModel(named) ? named : 'other';
      signals.httpRequests.inc({ route, style, model, code });
      logRequest(request, {
        route,
        code,
        model: named === undefined ? undefined : model,
        ms: Math.round(seconds * 1000),
      });
      span?.updateName(`${method} ${route}`);
      span?.setAttributes({
        'http.route': route,
        'http.response.status_code': code,
        'gateway.request_id': request.requestId,
      });
      // What a caller did wrong is no error of a server.
      if (span && code >= 500) markFailed(span, String(code));
      span?.end();
    });
  };
}

/** The pattern of the route, never the path itself, which a client can make up. Pages of operators have their own router. */
function routeOf({ match, route }: Pick<Request, 'match'> & { route?: { path?: unknown } }): string {
  return match.pattern ?? (typeof route?.path === 'string' ? route.path : 'none');
}

/** What HTTP shows of an answered request. */
interface Answered {
  readonly route: string;
  /** Its status, or 499 when the client had left. */
  readonly code: number;
  /** Undefined when the request named none. */
  readonly model: string | undefined;
  readonly ms: number;
}

/** Writes the one line of a request. */
function logRequest(request: Request, { route, code: status, model, ms }: Answered): void {
  const { requestId, method, caller, match, failureCode: code } = request;
  const { upstream, amount, hold, taskId = taskIn(request) } = takeFacts(requestId);
  if (match.facts.isQuiet) return;
  const { accountId, apiKeyId: keyId } = caller ?? {};
  completed({ requestId, accountId, keyId, method, route, model, taskId, upstream, status, ms, amount, hold, code });
}

/** The task id in the path, when it has the form of one: a client can make up a path. */
function taskIn({ params }: Request): string | undefined {
  const { task_id: id } = params;
  return typeof id === 'string' && TASK.test(id) ? id : undefined;
}

/** The model name of a request, which a client can make up. */
function modelIn(request: Request): string | undefined {
  const body = request.body as { model?: unknown } | undefined;
  const { model, target } = request.params;
  // The content-generation style names model and method in one part of the path.
  const named = body?.model ?? model ?? (typeof target === 'string' ? target.split(':', 1)[0] : undefined);
  return typeof named === 'string' ? named : undefined;
}
