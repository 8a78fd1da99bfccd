import { AccessService, type GuessLimiter, OPERATOR_GUESSES, TextUpstreams } from '#features';
import { NestLogger, type Platform, type ServerConfig } from '#platform';
import { type OpenTextProviders, openTextProviders } from '#providers';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { adminGate } from './admin/admin-gate.js';
import { ApiModule } from './api.module.js';
import { Admission } from './door/admission.js';
import { BodyBudget } from './door/body-budget.js';
import { limitBody } from './door/body-limit.middleware.js';
import { ErrorFilter } from './door/error.filter.js';
import { inOrder } from './door/in-order.js';
import { jsonBody } from './door/json-body.middleware.js';
import { knownSender } from './door/known-sender.middleware.js';
import { leaveDraining } from './door/leave-draining.middleware.js';
import { observeRequest } from './door/observe-request.middleware.js';
import type { BodyBounds } from './door/read-body.js';
import { readableAddress } from './door/readable-address.middleware.js';
import { requestLimits } from './door/request-limits.middleware.js';
import { requestId } from './door/request-id.middleware.js';
import { SendingRate } from './door/sending-rate.js';
import { securityHeaders } from './door/security-headers.middleware.js';
import { UnknownPaths } from './door/unknown-path.js';
import { ExpressServer } from './express-server.js';
import { documentedRoutes } from './openapi/openapi-document.js';
import { opsPages } from './ops/ops-pages.js';
import { opsServicesOf } from './ops/ops-services.js';
import { crossOrigin } from './text/cross-origin.middleware.js';

/** Where the rooms of operators' programs begin. */
const ADMIN = '/admin/v1';

const MIB = 1024 * 1024;

/** Builds the API on an opened platform, ready to listen. Used by the apps, by tests and by the OpenAPI writer. */
export async function createApi(
  platform: Platform,
  text: OpenTextProviders = openTextProviders(),
): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(
    ApiModule.on(platform, text),
    new ExpressServer(platform.config.server.TRUSTED_PROXIES),
    {
      bodyParser: false,
      logger: new NestLogger(),
      abortOnError: false,
    },
  );
  const observe = observeRequest(app.get(TextUpstreams, { strict: false }));
  app.use(inOrder(requestId, observe, leaveDraining(platform.health), securityHeaders, readableAddress));
  const guesses = app.get<GuessLimiter>(OPERATOR_GUESSES, { strict: false });
  app.use('/ops', opsPages(platform, opsServicesOf(app), guesses));
  app.use(ADMIN, adminGate(platform.adminToken, guesses));
  const access = app.get(AccessService, { strict: false });
  const limits = requestLimits(app.get(Admission, { strict: false }));
  const body = jsonBody(bodyBounds(platform.config.server));
  app.use(inOrder(crossOrigin, knownSender(access, ADMIN), limits, limitBody, body));
  app.useGlobalFilters(new ErrorFilter(new UnknownPaths(documentedRoutes())));
  return app;
}

function bodyBounds({ BODY_LIMIT_MB, BODY_MEMORY_MB }: ServerConfig): BodyBounds {
  const maxBytes = BODY_LIMIT_MB * MIB;
  return { maxBytes, budget: new BodyBudget(BODY_MEMORY_MB * MIB, maxBytes), rate: new SendingRate() };
}
