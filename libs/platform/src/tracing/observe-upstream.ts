import { ERRORS, GatewayError } from '#contracts';
import { signals } from '../metrics/signals.js';
import { inSpan } from './span.js';

/** What is asked of an upstream. */
export type UpstreamOperation = 'start' | 'check' | 'find' | 'cancel' | 'open' | 'text';

/**
 * Runs one call to an upstream, counted, timed and traced. `upstream` must be a configured name, never a caller's.
 * `attributes` go to the trace only.
 */
export async function observeUpstream<Result>(
  upstream: string,
  operation: UpstreamOperation,
  work: () => Promise<Result>,
  attributes: Readonly<Record<string, string | number>> = {},
): Promise<Result> {
  const startedAt = performance.now();
  signals.upstreamInFlight.inc({ upstream });
  let outcome = 'failed';
  try {
    const subject = {
      name: `${upstream} ${operation}`,
      kind: 'client',
      attributes: { upstream, ...attributes },
    } as const;
    const result = await inSpan(subject, work);
    outcome = 'answered';
    return result;
  } catch (error) {
    // A request that its caller spoiled is no sign of a failing upstream.
    if (error instanceof GatewayError && !ERRORS[error.code].retryable) outcome = 'refused';
    throw error;
  } finally {
    signals.upstreamInFlight.dec({ upstream });
    signals.upstreamDuration.observe({ upstream, operation, outcome }, (performance.now() - startedAt) / 1000);
  }
}
