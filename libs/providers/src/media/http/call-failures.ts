import { MediaFailure, type Verified } from '#contracts';
import type { MediaCodec, VendorReply, Verb } from './media-codec.js';
import { NoReply } from './vendor-http.js';

/** Why a start got no reply: nothing was sent, or nobody knows. What the caller's own signal ended before that stays so. */
export function failedStart(error: unknown, signal: AbortSignal): unknown {
  if (!(error instanceof NoReply)) return error;
  if (error.sent) return new MediaFailure('ambiguous', 'unanswered', { cause: error.cause });
  return signal.aborted ? signal.reason : new MediaFailure('unavailable', 'away', { cause: error.cause });
}

/** Why a question that may be put again got no reply. */
export function asFailure(error: unknown, signal: AbortSignal): MediaFailure {
  if (error instanceof MediaFailure) return error;
  const cause: unknown = error instanceof NoReply ? error.cause : error;
  return new MediaFailure('unavailable', 'away', { cause: signal.aborted ? signal.reason : cause });
}

/** What a reply says that is no success. */
export function refusedBy(codec: MediaCodec, reply: VendorReply, verb: Verb): MediaFailure {
  const { status } = reply;
  if (status >= 300 && status < 400)
    return new MediaFailure('unfit', 'not_served', {
      vendor: { status, message: 'It redirects; base_url is not right.' },
    });
  const failure = codec.readFailure(reply, verb);
  if (verb !== 'start' || status < 500 || codec.isCertainlyNotTaken?.(reply)) return failure;
  // Whatever a vendor means by a 5xx, it may have taken the order before it broke.
  return new MediaFailure('ambiguous', 'unanswered', { vendor: failure.vendor });
}

const HIDDEN = '[hidden]';

/** The same failure, what the vendor said in it without the operator's key and address. */
export function withoutSecrets(failure: MediaFailure, secrets: readonly string[]): MediaFailure {
  const { kind, reason, scope, retryAfterMs, param, reference, vendor, cause } = failure;
  const { message } = vendor;
  if (message === undefined || !secrets.some((secret) => message.includes(secret))) return failure;
  const cleaned = secrets.reduce((text, secret) => text.replaceAll(secret, HIDDEN), message);
  return new MediaFailure(kind, reason, {
    scope,
    cause,
    vendor: { ...vendor, message: cleaned },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(param !== undefined && { param }),
    ...(reference !== undefined && { reference }),
  });
}

/** What a failure of the free call says of the credentials. */
export function unverified({ kind, vendor, reason }: MediaFailure): Verified {
  if (kind === 'busy') return { ok: false, problem: 'busy', vendor };
  if (kind === 'unavailable' || kind === 'ambiguous') return { ok: false, problem: 'away', vendor };
  if (kind !== 'unfit') return { ok: false, problem: 'not_this_protocol', vendor };
  if (reason === 'not_paid') return { ok: false, problem: 'no_balance', vendor };
  return { ok: false, problem: vendor.status === 401 || reason === 'wrong_key' ? 'wrong_key' : 'not_opened', vendor };
}
