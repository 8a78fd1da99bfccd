import { isNativeError } from 'node:util/types';

/** How often work is done that loses conflicts of locks. */
const ATTEMPTS = 4;

/** A transaction that could not be put in order with others, and one that was ended because several waited in a circle. */
const CODES = new Set(['40001', '40P01']);

/** True when Postgres rolled the work back for the sake of another: nothing of it took effect, and it may run again. */
const isLockConflict = (error: unknown): boolean =>
  isNativeError(error) && 'code' in error && typeof error.code === 'string' && CODES.has(error.code);

/** Does `work` again when it lost a conflict of locks, which is always safe: nothing of it took effect. */
export async function repeatOnLockConflict<Result>(
  work: () => Promise<Result>,
  onRepeat: (error: unknown) => void = () => {},
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !isLockConflict(error)) throw error;
      onRepeat(error);
    }
  }
}
