import { isJsonObject, MediaFailure, type VendorWords } from '#contracts';
import { errorsIn } from '../../http/envelopes.js';
import { textWithoutSecrets } from '../../hidden-secrets.js';
import type { MediaCodec, VendorReply, Verb } from './media-codec.js';
import { NoReply } from './vendor-http.js';

/** Why a start got no reply: nothing was sent, or it is unknown. What the caller's own signal ended before that stays so. */
export function failedStart(error: unknown, signal: AbortSignal): unknown {
  if (!(error instanceof NoReply)) return error;
  const { sent, cause } = error;
  const vendor = wordsOfLine(cause);
  if (sent) return new MediaFailure('ambiguous', 'unanswered', { cause, vendor });
  return signal.aborted ? signal.reason : new MediaFailure('unavailable', 'away', { cause, vendor });
}

/** Why a question that may be put again got no reply. */
export function asFailure(error: unknown, signal: AbortSignal): MediaFailure {
  if (error instanceof MediaFailure) return error;
  const cause: unknown = error instanceof NoReply ? error.cause : error;
  const details = signal.aborted ? { cause: signal.reason as unknown } : { cause, vendor: wordsOfLine(cause) };
  return new MediaFailure('unavailable', 'away', details);
}

/** What broke the line, in the word of the system for it: a name that does not exist needs another remedy than a closed port. */
function wordsOfLine(cause: unknown): VendorWords {
  if (!(cause instanceof Error)) return {};
  const { code } = cause as NodeJS.ErrnoException;
  return { message: `There was no response (${typeof code === 'string' ? code : cause.name}).` };
}

const SEE_OTHER = 303;

/** What operators are told of a reply that was not understood. */
export const wordsOfUnread = ({ status, encoding }: VendorReply): VendorWords => ({
  status,
  ...(encoding !== undefined && { message: `The reply has content-encoding ${encoding}, which was not requested.` }),
});

/** What a reply says that is not a success. */
export function refusedBy(codec: MediaCodec, reply: VendorReply, verb: Verb): MediaFailure {
  const failure = sortedBy(codec, reply, verb);
  return reply.encoding === undefined ? failure : withWords(failure, { ...failure.vendor, ...wordsOfUnread(reply) });
}

function sortedBy(codec: MediaCodec, reply: VendorReply, verb: Verb): MediaFailure {
  const { status } = reply;
  if (status >= 300 && status < 400) {
    const vendor = { status, message: 'It redirects: base_url is wrong.' };
    // "See other" says that what was sent was taken in: only its outcome stands elsewhere.
    if (verb === 'start' && status === SEE_OTHER) return new MediaFailure('ambiguous', 'unanswered', { vendor });
    return new MediaFailure('unfit', 'not_served', { vendor });
  }
  const failure = handedOnBy(codec, reply, verb) ?? codec.readFailure(reply, verb);
  if (verb !== 'start' || status < 500 || codec.isCertainlyNotTaken?.(reply)) return failure;
  // Whatever a vendor means by a 5xx, it may have taken the order before it broke.
  return new MediaFailure('ambiguous', 'unanswered', { vendor: failure.vendor });
}

/** What a reseller may hand on in the envelope of a refusal, the innermost first, each also as the error of a reply. */
function handedOnIn(reply: VendorReply): VendorReply[] {
  if (!isJsonObject(reply.body)) return [];
  const inside = errorsIn(reply.body).slice(1).toReversed();
  return inside.flatMap((error) => [error, { error }]).map((body) => ({ ...reply, body }));
}

/** A refusal as it came, and what may be handed on in it. */
export const refusalsIn = (reply: VendorReply): VendorReply[] => [reply, ...handedOnIn(reply)];

/** The failure that a reseller hands on, in the vendor's words. Undefined where nothing inside says more than the status does. */
function handedOnBy(codec: MediaCodec, reply: VendorReply, verb: Verb): MediaFailure | undefined {
  const { kind, reason, scope } = codec.readFailure({ ...reply, body: {} }, verb);
  return handedOnIn(reply)
    .map((inside) => codec.readFailure(inside, verb))
    .find((failure) => failure.kind !== kind || failure.reason !== reason || failure.scope !== scope);
}

/** The same failure, what the vendor said in it without the operator's key and address. */
export function withoutSecrets(failure: MediaFailure, secrets: readonly string[]): MediaFailure {
  const { message } = failure.vendor;
  const cleaned = message && textWithoutSecrets(message, secrets);
  return cleaned === undefined || cleaned === message
    ? failure
    : withWords(failure, { ...failure.vendor, message: cleaned });
}

function withWords(failure: MediaFailure, vendor: VendorWords): MediaFailure {
  const { kind, reason, scope, retryAfterMs, param, reference, cause } = failure;
  return new MediaFailure(kind, reason, {
    scope,
    cause,
    vendor,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(param !== undefined && { param }),
    ...(reference !== undefined && { reference }),
  });
}
