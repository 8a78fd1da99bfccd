import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import {
  AccessService,
  type GuessLimiter,
  LeavingUpstreams,
  OPERATOR_GUESSES,
  SessionsService,
  TextUpstreams,
} from '#features';
import { NestLogger } from '#platform';
import { type OpenMediaUpstreams, openMediaUpstreams, type OpenTextUpstreams, openTextUpstreams } from '#providers';
import { type Platform, publicBaseUrl } from '#runtime';
import { ApiModule } from './api.module.js';
import { CONSOLE_API, consoleGate } from './console/console-gate.js';
import { consolePages, redirectBrowsers } from './console/console-pages.js';
import { queuePages } from './console/queue-pages.js';
import { ExpressServer } from './express-server.js';
import { Admission } from './http/admission.js';
import { authenticateBeforeBody } from './http/authenticate.js';
import { BodyBudget } from './http/body-budget.js';
import { composeMiddleware } from './http/compose-middleware.js';
import { DECLARED_ROUTES, type DeclaredRoute } from './http/declared-routes.js';
import { BodyDecoder } from './http/decode-body.js';
import { ErrorFilter } from './http/error.filter.js';
import { jsonBody } from './http/json-body.middleware.js';
import {
  expectMethod,
  expectSingleHeaders,
  refuseWebSockets,
  rejectBadUrl,
} from './http/malformed-requests.middleware.js';
import { matchRoute } from './http/match-route.middleware.js';
import { observeRequest } from './http/observe-request.middleware.js';
import { serializePipelined } from './http/serialize-pipelined.js';
import { limitBody, requestLimits } from './http/request-limits.middleware.js';
import { closeWhenDraining, crossOrigin, requestId, securityHeaders } from './http/response-headers.middleware.js';
import { RouteIndex } from './http/route-index.js';
import { SendingRate } from './http/sending-rate.js';
import { UnknownPaths } from './http/unknown-path.js';
import { refuseUnreadQuery } from './http/unread-query.middleware.js';
import { documentedRoutes } from './openapi/describe-api.js';
import { adminGate } from './operators/admin-gate.js';
import { OperatorAccess } from './routes/ops/operator-access.js';

/** Routers of their own stand below these; of what is below `ADMIN`, only operators learn what exists. */
const OPS = '/ops';
const ADMIN = '/admin/v1';
const CONSOLE = '/console';

const MIB = 1024 * 1024;

/** Builds the API on an opened platform, ready to listen. Used by the apps, by tests and by the OpenAPI writer. */
export async function createApi(
  platform: Platform,
  text: OpenTextUpstreams = openTextUpstreams(),
  media: OpenMediaUpstreams = openMediaUpstreams(),
): Promise<NestExpressApplication> {
  const server = new ExpressServer(platform.config.server.TRUSTED_PROXIES);
  const app = await NestFactory.create<NestExpressApplication>(ApiModule.register(platform, text, media), server, {
    bodyParser: false,
    logger: new NestLogger(),
    abortOnError: false,
  });
  const declared = app.get<DeclaredRoute[]>(DECLARED_ROUTES, { strict: false });
  const routes = routeIndex(declared);
  const observe = observeRequest(app.get(TextUpstreams, { strict: false }));
  const closing = closeWhenDraining(platform.health);
  const first = composeMiddleware(
    serializePipelined(),
    requestId,
    matchRoute(routes),
    observe,
    closing,
    securityHeaders,
    refuseWebSockets,
    rejectBadUrl,
    expectSingleHeaders,
    redirectBrowsers,
  );
  const guesses = app.get<GuessLimiter>(OPERATOR_GUESSES, { strict: false });
  const sessions = app.get(SessionsService, { strict: false });
  const operators = OperatorAccess.on(platform);
  const gate = consoleGate({ sessions, operators, platform });
  const authenticate = authenticateBeforeBody(app.get(AccessService, { strict: false }));
  const limits = requestLimits(app.get(Admission, { strict: false }));
  const maxBytes = platform.config.server.BODY_LIMIT_MB * MIB;
  const budget = app.get(BodyBudget, { strict: false });
  const body = jsonBody({ maxBytes, budget, rate: new SendingRate(), decoder: new BodyDecoder() });
  const beforeRoute = composeMiddleware(
    crossOrigin(routes),
    expectMethod,
    authenticate,
    limits,
    refuseUnreadQuery,
    limitBody,
    body,
  );
  server.useSteps({ first, beforeRoute, budget }, [
    [OPS, queuePages(platform, sessions, operators)],
    [ADMIN, adminGate(platform.adminToken, guesses)],
    [CONSOLE, consolePages(platform.config)],
    [CONSOLE_API, composeMiddleware(expectMethod, gate)],
  ]);
  app.useGlobalFilters(
    new ErrorFilter(new UnknownPaths(documentedRoutes(declared), () => publicBaseUrl(platform.config))),
  );
  return app;
}

function routeIndex(declared: readonly DeclaredRoute[]): RouteIndex {
  const routes = new RouteIndex(declared);
  routes.addTree(OPS, { style: 'ops' });
  routes.addTree(ADMIN, { style: 'admin' });
  routes.addTree(CONSOLE, { style: 'console' });
  routes.addTree(CONSOLE_API, { style: 'console' });
  return routes;
}

/** Tells by `/readyz` which media upstreams still have work although they are to leave. */
export function watchUpstreams(api: INestApplicationContext, { health }: Platform): void {
  const leaving = api.get(LeavingUpstreams, { strict: false });
  health.add({ part: 'media_upstreams', isNeeded: false, check: () => leaving.reason() });
}
