import type { MediaFailure, MediaReason } from '#contracts';
import { failureBy, type FailureRule } from '../http/failure-rules.js';
import type { VendorReply, Verb } from '../http/media-codec.js';

const is = (...codes: readonly string[]) => {
  const known = new Set(codes);
  return ({ code }: { readonly code: string }): boolean => known.has(code);
};

/** Codes of Kling (vendors.md 8: copy of the official reference). The status alone says little: 429 is an empty balance too. */
const RULES: readonly FailureRule[] = [
  { when: is('1000', '1001', '1002', '1003', '1004'), kind: 'unfit', reason: 'wrong_key' },
  { when: is('1101', '1102'), kind: 'unfit', reason: 'not_paid' },
  { when: is('1100', '1103', '1304'), kind: 'unfit', reason: 'not_served' },
  { when: is('1302'), kind: 'busy', reason: 'busy' },
  { when: is('1303'), kind: 'busy', reason: 'busy', scope: 'running' },
  { when: ({ status, verb }) => status === 404 && verb === 'check', kind: 'refused', reason: 'work_lost' },
  { when: is('1202', '1203'), kind: 'unfit', reason: 'not_served', scope: 'model' },
  {
    when: ({ code, verb }) => verb === 'start' && is('1300', '1301')({ code }),
    kind: 'refused',
    reason: 'content_refused',
  },
  // Our own order is there already, perhaps from a call whose reply was lost.
  {
    when: ({ message, verb }) => verb === 'start' && message.includes('external_task_id'),
    kind: 'ambiguous',
    reason: 'unanswered',
  },
  { when: is('1200', '1201'), kind: 'unsupported', reason: 'not_possible' },
  { when: is('5000', '5001', '5002'), kind: 'unavailable', reason: 'away' },
];

export const readKlingFailure = (reply: VendorReply, verb: Verb): MediaFailure =>
  failureBy(RULES, reply, reply.body, verb);

const REFUSED = /risk|sensitive|polic|violat|moderat|inappropriate/i;

/** Why work that was taken failed, by the vendor's sentence: it gives no code. */
export const klingFailureReason = (sentence: string): MediaReason =>
  REFUSED.test(sentence) ? 'result_refused' : 'work_failed';
