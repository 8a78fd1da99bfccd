import { AccessService, TextUpstreams } from '#features';
import { NestLogger, type Platform, type ServerConfig } from '#platform';
import { type OpenTextProviders, openTextProviders } from '#providers';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { adminGate } from './admin/admin-gate.js';
import { ApiModule } from './api.module.js';
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
import { requestId } from './door/request-id.middleware.js';
import { securityHeaders } from './door/security-headers.middleware.js';
import { ExpressServer } from './express-server.js';
import { opsPages } from './ops/ops-pages.js';
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
  app.use('/ops', opsPages(platform));
  app.use(ADMIN, adminGate(platform.adminToken));
  const access = app.get(AccessService, { strict: false });
  app.use(inOrder(crossOrigin, knownSender(access, ADMIN), limitBody, jsonBody(bodyBounds(platform.config.server))));
  app.useGlobalFilters(new ErrorFilter());
  return app;
}

function bodyBounds({ BODY_LIMIT_MB, BODY_MEMORY_MB }: ServerConfig): BodyBounds {
  return { maxBytes: BODY_LIMIT_MB * MIB, budget: new BodyBudget(Math.max(BODY_LIMIT_MB, BODY_MEMORY_MB) * MIB) };
}
