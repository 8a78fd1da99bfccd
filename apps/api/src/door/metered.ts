import { Reflector } from '@nestjs/core';

/**
 * What a handler spends. `task` makes a task, `text` pays for a reply; both can carry an Idempotency-Key. `free` costs
 * nothing but is work, so it counts against the limits of the minute like the others.
 */
export type MeteredKind = 'task' | 'text' | 'free';

/**
 * Marks a handler that is limited by the minute. The mark is on the handler, because one path has many spellings:
 * whichever leads to the handler is limited.
 */
export const Metered = Reflector.createDecorator<MeteredKind>();
