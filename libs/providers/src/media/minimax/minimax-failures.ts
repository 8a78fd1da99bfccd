import { isJsonObject, type JsonObject, type JsonValue, type MediaFailure, type MediaReason } from '#contracts';
import { failureBy, type FailureRule } from '../http/failure-rules.js';
import type { VendorReply, Verb } from '../http/media-codec.js';

const WRONG_KEY = new Set(['1004', '2049']);
/** The balance, or what a plan allows. */
const UNPAID = new Set(['1008', '1028', '1030', '2056']);
const NOT_IN_PLAN = '2061';
const BUSY = new Set(['1002', '1039', '1041', '2045']);
/** It broke, and does not say whether before or after it took the order. */
const BROKEN = new Set(['1000', '1001', '1024', '1033']);
const INPUT_REFUSED = '1026';
const OUTPUT_REFUSED = '1027';
const WRONG_PARAMETER = '2013';
const WRONG_ORDER = new Set(['1042', WRONG_PARAMETER]);

/** MiniMax's own status codes, which come with HTTP status 200. */
const RULES: readonly FailureRule[] = [
  { when: ({ code }) => WRONG_KEY.has(code), kind: 'unfit', reason: 'wrong_key' },
  { when: ({ code }) => UNPAID.has(code), kind: 'unfit', reason: 'not_paid' },
  { when: ({ code }) => code === NOT_IN_PLAN, kind: 'unfit', reason: 'not_served', scope: 'model' },
  { when: ({ code }) => BUSY.has(code), kind: 'busy', reason: 'busy' },
  { when: ({ code, verb }) => BROKEN.has(code) && verb === 'start', kind: 'ambiguous', reason: 'unanswered' },
  { when: ({ code }) => code === INPUT_REFUSED, kind: 'refused', reason: 'content_refused' },
  { when: ({ code }) => code === OUTPUT_REFUSED, kind: 'refused', reason: 'result_refused' },
  // The only parameter of a question is the id of the work, or of its file.
  {
    when: ({ code, verb }) => code === WRONG_PARAMETER && verb !== 'start',
    kind: 'refused',
    reason: 'work_lost',
  },
  { when: ({ code }) => WRONG_ORDER.has(code), kind: 'unsupported', reason: 'not_possible' },
];

export const readMinimaxFailure = (reply: VendorReply, verb: Verb): MediaFailure =>
  failureBy(RULES, reply, errorOf(reply.body), verb);

/** The failure inside a reply of status 200; undefined when all is well. */
export function failureInside(body: JsonObject, verb: Verb): MediaFailure | undefined {
  return statusCodeOf(body) === '0' ? undefined : readMinimaxFailure({ status: 200, headers: {}, body }, verb);
}

/** Why work that was taken failed. */
export function minimaxFailureReason(body: JsonObject): MediaReason {
  const code = statusCodeOf(body);
  if (code === INPUT_REFUSED) return 'content_refused';
  return code === OUTPUT_REFUSED ? 'result_refused' : 'work_failed';
}

/** The code of a reply, `0` when all is well; undefined when the reply is none of MiniMax. */
export function statusCodeOf(body: JsonObject): string | undefined {
  const response = body['base_resp'];
  const code = isJsonObject(response) ? response['status_code'] : undefined;
  return typeof code === 'number' || (typeof code === 'string' && /^\d+$/.test(code)) ? String(code) : undefined;
}

function errorOf(body: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(body) || !isJsonObject(body['base_resp'])) return undefined;
  const { status_code: code = '', status_msg: message = '' } = body['base_resp'];
  return { code, message };
}
