import type { MediaUpstream } from '#contracts';
import { logger } from '#platform';
import type { DuePoll } from '../poll/poll-schedule.js';
import { bareTicket, notedCall } from '../../media-upstreams/vendor-call.js';
import { withinLimit } from '../run/step-limit.js';

const log = logger('generation');

/** The result of asking a vendor to stop; `unanswered`: not known yet. */
type CancelOutcome = 'cancelled' | 'too_late' | 'unsupported' | 'unanswered';

/**
 * Asks a vendor to stop, and waits up to `timeoutMs` for its answer. Never throws: a vendor that cannot be asked to stop can
 * still be asked how it goes.
 */
export async function askToStop(
  upstream: MediaUpstream,
  { taskId, operation }: DuePoll,
  timeoutMs: number,
): Promise<CancelOutcome> {
  if (!upstream.cancel) return 'unsupported';
  try {
    const limit = { step: 'cancel', limitMs: timeoutMs } as const;
    return await withinLimit(limit, async (limited) => {
      const { call } = notedCall(limited, bareTicket(upstream, taskId));
      return (await upstream.cancel?.(operation, call)) ?? 'unsupported';
    });
  } catch (error) {
    log.warn('upstream.cancel_failed', { taskId, provider: upstream.id, error });
    return 'unanswered';
  }
}
