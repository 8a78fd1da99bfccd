import { isJsonObject, type JsonObject, type MediaFailure, type Verified } from '#contracts';
import { wordsOfUnread } from './call-failures.js';
import { isDone, type MediaCodec, type VendorReply } from './media-codec.js';
import { notableSkewMs } from './vendor-words.js';

/**
 * What the reply to the free call says of the credentials. A reply of status 200 proves nothing when the vendor's own table of
 * errors finds the key, the balance or the rate refused in it, or when it holds an error of any other kind.
 *
 * @param refused what the reply would be as a refusal.
 */
export function verifiedBy(codec: MediaCodec, reply: VendorReply, refused: () => MediaFailure): Verified {
  const read = codec.readVerification?.(reply);
  if (read?.ok === false) return read;
  if (!read && !isDone(reply.status)) return unverified(refused());
  if (!isJsonObject(reply.body)) return { ok: false, problem: 'not_this_protocol', vendor: wordsOfUnread(reply) };
  const skewMs = notableSkewMs(reply);
  const proof: Verified = { ok: true, ...(skewMs !== undefined && { clockSkewMs: skewMs }) };
  return read ? proof : (refusedInside(reply.body, refused()) ?? proof);
}

function refusedInside(body: JsonObject, failure: MediaFailure): Verified | undefined {
  const { kind, vendor } = failure;
  if (kind === 'unfit' || kind === 'busy') return unverified(failure);
  return holdsError(body) ? { ok: false, problem: 'not_this_protocol', vendor } : undefined;
}

/** The words in which services of every kind tell an error. */
const holdsError = ({ error, detail, reason }: JsonObject): boolean =>
  [error, detail, reason].some((word) => isJsonObject(word) || (typeof word === 'string' && word !== ''));

/** What a failure of the free call says of the credentials. */
export function unverified({ kind, vendor, reason }: MediaFailure): Verified {
  const { status = 0 } = vendor;
  if (kind === 'busy') return { ok: false, problem: 'busy', vendor };
  if (kind !== 'unfit' || isElsewhere(status))
    return { ok: false, problem: isAnswer(status) ? 'not_this_protocol' : 'away', vendor };
  if (reason === 'not_paid') return { ok: false, problem: 'no_balance', vendor };
  return { ok: false, problem: status === 401 || reason === 'wrong_key' ? 'wrong_key' : 'not_opened', vendor };
}

/** Redirected, or not found: the free call asks for what every vendor of the protocol has. */
const isElsewhere = (status: number): boolean => (status >= 300 && status < 400) || status === 404 || status === 405;

const TIMED_OUT: ReadonlySet<number> = new Set([408, 425]);

/** Something was there and did not know the call: another service, or another path of the right one. */
const isAnswer = (status: number): boolean => status >= 300 && status < 500 && !TIMED_OUT.has(status);
