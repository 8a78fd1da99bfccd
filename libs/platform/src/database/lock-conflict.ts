import { isNativeError } from 'node:util/types';

/** A transaction that could not be put in order with others, and one that was ended because several waited in a circle. */
const CODES = new Set(['40001', '40P01']);

/** True when Postgres rolled the work back for the sake of another: nothing of it took effect, and it may run again. */
export const isLockConflict = (error: unknown): boolean =>
  isNativeError(error) && 'code' in error && typeof error.code === 'string' && CODES.has(error.code);
