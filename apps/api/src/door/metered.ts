import { applyDecorators, UseGuards } from '@nestjs/common';
import { type MeteredKind, MeteredKindOf } from './metered-kind.js';
import { MeteredGuard } from './metered.guard.js';

/**
 * Marks a handler whose work is limited, or can be repeated by its Idempotency-Key. The mark is on the handler,
 * because one path has many spellings: whichever leads to the handler is limited. The controller needs `ApiKeyGuard`.
 */
export const Metered = (kind: MeteredKind): MethodDecorator =>
  applyDecorators(MeteredKindOf(kind), UseGuards(MeteredGuard));
