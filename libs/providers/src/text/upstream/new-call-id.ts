import { randomUUID } from 'node:crypto';

/** An id for a call whose upstream gave none. */
export const newCallId = (): string => `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
