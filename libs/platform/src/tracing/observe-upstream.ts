import { ERRORS, GatewayError, MediaFailure } from '#contracts';
import { signals } from '../metrics/signals.js';
import { inSpan } from './span.js';
import { isTracing } from './tracing.js';
import type { VendorCall } from './vendor-call.js';

export type UpstreamOperation = 'start' | 'check' | 'find' | 'cancel' | 'open' | 'text';

/**
 * Runs one call to an upstream, counted, timed and traced. `upstream` must be a configured name, never a caller's.
 * `attributes` go to the trace only; `vendorCall` is a span of its own that the caller ends.
 */
export async function observeUpstream<Result>(
  upstream: string,
  operation: UpstreamOperation,
  work: () => Promise<Result>,
  attributes?: Readonly<Record<string, string | number>>,
  vendorCall?: VendorCall,
): Promise<Result> {
  const startedAt = performance.now();
  signals.upstreamInFlight.begin(upstream);
  let outcome = 'failed';
  try {
    const result = await (vendorCall
      ? vendorCall.run(work)
      : isTracing()
        ? inSpan({ name: `${upstream} ${operation}`, kind: 'client', attributes: { upstream, ...attributes } }, work)
        : work());
    outcome = 'answered';
    return result;
  } catch (error) {
    outcome = outcomeOf(error);
    throw error;
  } finally {
    signals.upstreamInFlight.end(upstream);
    signals.upstreamDuration.observe({ upstream, operation, outcome }, (performance.now() - startedAt) / 1000);
  }
}

/** A request that its caller spoiled is no sign of a failing upstream, nor is one too many. */
function outcomeOf(error: unknown): 'failed' | 'busy' | 'refused' {
  if (error instanceof GatewayError) return ERRORS[error.code].retryable ? 'failed' : 'refused';
  if (!(error instanceof MediaFailure)) return 'failed';
  if (error.kind === 'busy') return 'busy';
  return error.kind === 'refused' || error.kind === 'unsupported' ? 'refused' : 'failed';
}
