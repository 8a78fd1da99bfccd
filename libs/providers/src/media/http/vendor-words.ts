import { isJsonObject, type JsonValue, type VendorWords } from '#contracts';
import type { VendorReply } from './media-codec.js';

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
