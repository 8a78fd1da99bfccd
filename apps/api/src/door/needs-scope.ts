import type { KeyScope } from '#features';
import { Reflector } from '@nestjs/core';

/**
 * The scope that a key with scopes needs for a handler, or for all of a controller. `ApiKeyGuard` obeys it; a route
 * without one is shut for such keys.
 */
export const NeedsScope = Reflector.createDecorator<KeyScope>();
