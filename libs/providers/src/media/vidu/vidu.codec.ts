import {
  failedBecause,
  isJsonObject,
  type JsonObject,
  type Operation,
  type OperationState,
  type VendorCost,
  type Verified,
} from '#contracts';
import { isDone, type MediaCodec, type ReadState, type VendorReply } from '../http/media-codec.js';
import { stateWord } from '../http/state-words.js';
import { costIn } from '../http/stated-cost.js';
import { vendorId } from '../http/vendor-id.js';
import { isSignedByVidu } from './vidu-signature.js';
import { mapZeta } from './map-zeta.js';
import { readViduFailure, viduFailureReason } from './vidu-failures.js';

const taskPath = ({ id }: Operation): string => `/ent/v2/tasks/${encodeURIComponent(id as string)}`;

/** Videos of Vidu Q3 (vendors.md 10). */
export const viduCodec: MediaCodec = {
  protocol: 'vidu',
  traits: {
    style: 'task',
    // `payload` comes back in replies, but nothing searches for it.
    repeatStart: 'unknown',
    startTimeoutMs: 60_000,
    findableAfterMs: 0,
    firstCheckMs: 10_000,
    checkEveryMs: 5_000,
    checkTimeoutMs: 10_000,
  },
  defaultBaseUrl: 'https://api.vidu.com',
  domains: ['vidu.cn', 'vidu.com'],
  models: new Map([
    ['zeta-q3-pro', 'viduq3-pro'],
    ['zeta-q3-turbo', 'viduq3-turbo'],
    ['zeta-q3', 'viduq3'],
    ['zeta-q3-mix', 'viduq3-mix'],
  ]),
  authorization: (key) => ({ authorization: `Token ${key}` }),
  referenceForm: (_, way) => way ?? 'sent',

  callback: { field: 'callback_url' },
  readCallback: (request, key) => (isSignedByVidu(request, key) ? { reply: {} } : 'forged'),

  writeStart: (order, { model }, file) => {
    const { path, body } = mapZeta(order, model, file);
    return { method: 'POST', path: `/ent/v2/${path}`, body };
  },
  readStart: ({ task_id: taskId }) => {
    const id = vendorId(taskId);
    return id === undefined ? undefined : { kind: 'operation', operation: { id } };
  },

  nameOf: ({ id }) => id as string,
  writeCheck: (operation) => ({ method: 'GET', path: `${taskPath(operation)}/creations` }),
  readCheck: stateOf,
  readFailure: readViduFailure,

  writeCancel: (operation) => ({
    method: 'POST',
    path: `${taskPath(operation)}/cancel`,
    body: { id: operation['id'] as string },
  }),
  readCancel,

  verification: { method: 'GET', path: '/ent/v2/credits?show_detail=false' },
  readVerification: verified,
  readCost: costOf,
};

function stateOf(body: JsonObject): ReadState | undefined {
  const { state } = body;
  switch (stateWord(state)) {
    case 'created':
    case 'queueing':
    case 'processing':
      return { state: 'pending' };
    case 'success':
      return delivered(body);
    case 'failed':
      return failedBecause(viduFailureReason(body['err_code']));
    default:
      return typeof state === 'string' ? { state: 'strange', word: state } : undefined;
  }
}

function delivered({ creations }: JsonObject): OperationState {
  const [first] = Array.isArray(creations) ? creations : [];
  const url = isJsonObject(first) ? first['url'] : undefined;
  if (typeof url !== 'string' || url === '') return failedBecause('nothing_delivered');
  return { state: 'succeeded', outputs: [{ role: 'output', contentType: 'video/mp4', url }] };
}

/** Only a task that still waits is stopped; any other is a 400. */
function readCancel({ status }: VendorReply): 'cancelled' | 'too_late' | undefined {
  if (isDone(status)) return 'cancelled';
  return status === 400 || status === 404 ? 'too_late' : undefined;
}

/** Credits that are left, in all packages together. */
function verified({ status, body }: VendorReply): Verified | undefined {
  const remains = status === 200 && isJsonObject(body) ? body['remains'] : undefined;
  if (!Array.isArray(remains)) return undefined;
  // A package for tasks at once has no credits, and needs none.
  const canPay = remains.some(
    (each) => isJsonObject(each) && (each['type'] === 'concurrent' || Number(each['credit_remain']) > 0),
  );
  return canPay ? { ok: true } : { ok: false, problem: 'no_balance', vendor: { status } };
}

function costOf({ credits }: JsonObject): VendorCost | undefined {
  return costIn('credits', credits);
}
