import {
  failedBecause,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type MediaReason,
  type OperationState,
  type VendorCost,
  type VendorWords,
} from '#contracts';
import type { MediaCodec, VendorReply } from './media-codec.js';

const MAX_MESSAGE = 1_000;
const CODE = /^[\w.:-]{1,128}$/;
const LINK = /\b(?:https?|data):\S+/gi;
const SIGNED_TOKEN = /\beyJ[\w-]+\.[\w-]+\.?[\w-]*/g;
const REQUEST_ID_HEADERS = ['x-request-id', 'x-fal-request-id', 'x-tt-logid', 'trace-id', 'request-id'] as const;
/** Beyond this, signed requests and expiry dates go wrong; in milliseconds. */
const NOTABLE_SKEW_MS = 60_000;
const REQUEST_ID = /^[\w.:=/+-]{1,128}$/;

/** The words of an error object, for operators: codes that are words, sentences without links. */
export function wordsOf(status: number | undefined, error: JsonValue | undefined): VendorWords {
  const { code, message } = isJsonObject(error) ? error : {};
  return {
    ...(status !== undefined && { status }),
    ...((typeof code === 'string' || typeof code === 'number') && CODE.test(String(code)) && { code: String(code) }),
    ...(typeof message === 'string' &&
      message !== '' && {
        message: message.replace(LINK, '[link]').replace(SIGNED_TOKEN, '[token]').slice(0, MAX_MESSAGE),
      }),
  };
}

const first = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

/** The vendor's id of the request, from the headers, else from `request_id` of the body. */
export function requestIdOf({ headers, body }: VendorReply): string | undefined {
  const inBody = isJsonObject(body) ? body['request_id'] : undefined;
  const id = REQUEST_ID_HEADERS.map((name) => first(headers[name])).find((value) => value !== undefined) ?? inBody;
  return typeof id === 'string' && REQUEST_ID.test(id) ? id : undefined;
}

/** How long the vendor asks to be left alone, in milliseconds: seconds, or a date, which is of the vendor's own clock. */
export function retryAfterMsOf({ headers }: VendorReply, nowMs = Date.now()): number | undefined {
  const sent = first(headers['retry-after'])?.trim();
  if (sent === undefined) return undefined;
  const itsNowMs = Date.parse(first(headers['date']) ?? '') || nowMs;
  const ms = /^\d+(?:\.\d+)?$/.test(sent) ? Math.ceil(Number(sent) * 1_000) : Date.parse(sent) - itsNowMs;
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}

/** How far the vendor's clock is ahead of ours, in milliseconds; undefined when it does not say. */
export function clockAheadMs({ headers }: VendorReply, nowMs = Date.now()): number | undefined {
  const ms = Date.parse(first(headers['date']) ?? '') - nowMs;
  return Number.isNaN(ms) ? undefined : ms;
}

/** The same where it matters; undefined otherwise. */
export function notableSkewMs(reply: VendorReply, nowMs?: number): number | undefined {
  const ms = clockAheadMs(reply, nowMs);
  return ms !== undefined && Math.abs(ms) > NOTABLE_SKEW_MS ? ms : undefined;
}

/** Longer than any vendor's; what is longer is no name of anything. */
const MAX_ID = 512;
/** Printed characters of ASCII: ids stand in paths, where one or two dots would name another place. */
const ID = /^(?!\.{1,2}$)[\x21-\x7e]+$/;

/** The vendor's name of something, which may come as a text or as a number. Undefined: it is none that can be asked for. */
export function vendorId(value: JsonValue | undefined): string | undefined {
  const id = typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? String(value) : value;
  return typeof id === 'string' && id.length <= MAX_ID && ID.test(id) ? id : undefined;
}

/** The word for a state, whichever case it is written in: proxies and new releases of a vendor change that. */
export const stateWord = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' ? value.trim().toLowerCase() : undefined;

/** Words that mean a bad end wherever they are said. */
const BAD_ENDS: ReadonlyMap<string, MediaReason> = new Map(
  Object.entries({
    aborted: 'work_stopped',
    canceled: 'work_stopped',
    cancelled: 'work_stopped',
    error: 'work_failed',
    errored: 'work_failed',
    expired: 'work_expired',
    fail: 'work_failed',
    failed: 'work_failed',
    failure: 'work_failed',
    rejected: 'work_failed',
    terminated: 'work_stopped',
    timed_out: 'work_expired',
    timeout: 'work_expired',
  } as const),
);

/** The end that a vendor tells in a word which its own pages do not have; undefined: the work may continue. */
export function badEndOf(word: string): OperationState | undefined {
  const reason = BAD_ENDS.get(stateWord(word) ?? '');
  return reason && failedBecause(reason);
}

/** The most that the database keeps, and what a unit looks like. */
const MOST_MICROS = 2n ** 63n - 1n;
const UNIT = /^\w{1,32}$/;

/** What the vendor takes for an order. What it says that cannot be kept counts as nothing said: it must not lose the order. */
export function statedCost(body: JsonObject, codec: MediaCodec): VendorCost | undefined {
  try {
    const cost = codec.readCost?.(body);
    return cost && cost.micros >= 0n && cost.micros <= MOST_MICROS && UNIT.test(cost.unit) ? cost : undefined;
  } catch {
    return undefined;
  }
}

/** An amount of a text: whole, or with decimal places, of which six count. */
const DECIMAL = /^(\d{1,18})(?:\.(\d{1,18}))?$/;
const PLACES = 6;

/**
 * A cost in millionths of `unit`, from a number or a decimal text: vendors change between the two, and proxies too.
 * Undefined: it is no amount.
 */
export function costIn(unit: string, amount: JsonValue | undefined): VendorCost | undefined {
  const text = typeof amount === 'number' && Number.isFinite(amount) ? decimalOf(amount) : amount;
  const [, whole, parts = ''] = typeof text === 'string' ? (DECIMAL.exec(text.trim()) ?? []) : [];
  if (whole === undefined) return undefined;
  return { micros: BigInt(whole + parts.slice(0, PLACES).padEnd(PLACES, '0')), unit };
}

const decimalOf = (amount: number): string => (Number.isSafeInteger(amount) ? String(amount) : amount.toFixed(PLACES));
