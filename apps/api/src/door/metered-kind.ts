import { Reflector } from '@nestjs/core';

/**
 * What a handler spends. `task` makes a task, `text` pays for a reply; both can carry an Idempotency-Key. `free` costs
 * nothing but is work. What has a body was counted before that was read.
 */
export type MeteredKind = 'task' | 'text' | 'free';

/** Where a handler says what it spends; written by `Metered`. */
export const MeteredKindOf = Reflector.createDecorator<MeteredKind>();
