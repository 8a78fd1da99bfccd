import type { Request } from 'express';
import { GatewayError } from '#contracts';

/** The longest a request is held open, in seconds; common proxies cut at 60 and more. */
export const LONGEST_WAIT_SECONDS = 55;

/** How long the client wants its answer held back. */
export interface RequestedWait {
  readonly seconds: number;
  /** What to answer in `Preference-Applied`, when the wait was asked for as a preference. */
  readonly preferenceApplied: string | null;
}

/**
 * Reads `?wait=30`, or else `Prefer: wait=30` (RFC 7240). The query is a demand and refused beyond its bounds; a
 * preference is met as far as possible, and the answer says how far.
 *
 * @throws GatewayError `invalid_parameter`: `wait` is not a whole number of seconds within its bounds.
 */
export function requestedWait(request: Request): RequestedWait {
  const { wait } = request.query;
  if (wait !== undefined) {
    const seconds = typeof wait === 'string' && /^\d{1,4}$/.test(wait) ? Number(wait) : -1;
    if (seconds >= 0 && seconds <= LONGEST_WAIT_SECONDS) return { seconds, preferenceApplied: null };
    const message = `wait must be a whole number of seconds from 0 to ${LONGEST_WAIT_SECONDS}.`;
    throw new GatewayError('invalid_parameter', message, { param: 'wait' });
  }
  const preferred = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?/i.exec(request.get('prefer') ?? '')?.[1];
  if (preferred === undefined) return { seconds: 0, preferenceApplied: null };
  const seconds = Math.min(Number(preferred), LONGEST_WAIT_SECONDS);
  return { seconds, preferenceApplied: `wait=${seconds}` };
}
