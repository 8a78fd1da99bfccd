import type { JsonObject } from '#contracts';
import { CONTROLLERS } from '../controllers.js';
import { declaredRoutes } from '../http/declared-routes.js';
import { describeApi } from './describe-api.js';

/** The OpenAPI document of all routes, without starting anything. */
export const openapiDocument = (): JsonObject => describeApi(declaredRoutes(CONTROLLERS));
