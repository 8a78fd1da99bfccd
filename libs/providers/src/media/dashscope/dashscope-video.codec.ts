import {
  failedBecause,
  isJsonObject,
  type JsonObject,
  type Operation,
  type OperationState,
  type VendorCost,
} from '#contracts';
import { isDone, type MediaCodec, type ReadState, type VendorReply } from '../http/media-codec.js';
import { costIn, stateWord, vendorId } from '../http/vendor-words.js';
import { DASHSCOPE, isBeijing } from './dashscope.js';
import { dashscopeFailureReason, readDashscopeFailure } from './dashscope-failures.js';
import { mapBeta27, mapBeta27R2v } from './map-beta-2.7.js';
import { mapBeta25, mapBeta26 } from './map-beta-older.js';

const SYNTHESIS = '/api/v1/services/aigc/video-generation/video-synthesis';

const taskPath = ({ id }: Operation): string => `/api/v1/tasks/${encodeURIComponent(id as string)}`;

/** Videos from Alibaba Cloud Model Studio. */
export const dashscopeVideoCodec: MediaCodec = {
  ...codec(false),
  configured: ({ base_url: baseUrl }) => codec(isBeijing(baseUrl)),
};

function codec(hasTemplates: boolean): MediaCodec {
  const maps = {
    'beta-2.5-preview': mapBeta25,
    'beta-2.6': mapBeta26(hasTemplates),
    'beta-2.7': mapBeta27,
    'beta-2.7-r2v': mapBeta27R2v,
  };
  return {
    protocol: 'dashscope-video',
    traits: {
      style: 'task',
      // No idempotency key, and the list of tasks has no field of ours.
      repeatStart: 'unknown',
      startTimeoutMs: 60_000,
      findableAfterMs: 0,
      firstCheckMs: 15_000,
      // 20 checks a second for the whole account.
      checkEveryMs: 10_000,
      checkTimeoutMs: 10_000,
    },
    defaultBaseUrl: DASHSCOPE.defaultBaseUrl,
    domains: DASHSCOPE.domains,
    models: new Map([
      ['beta-2.5-preview', 'wan2.5-*-preview'],
      ['beta-2.6', 'wan2.6-*'],
      ['beta-2.7', 'wan2.7-*'],
      ['beta-2.7-r2v', 'wan2.7-r2v'],
    ]),
    authorization: DASHSCOPE.authorization,
    // Videos and sounds are taken by link only.
    referenceForm: ({ medium }, way) => (medium === 'image' ? (way ?? 'sent') : 'url'),

    writeStart: (order, ticket, file) => ({
      method: 'POST',
      path: SYNTHESIS,
      headers: { 'x-dashscope-async': 'enable' },
      body: maps[order.model as keyof typeof maps](order, ticket.model, file),
    }),
    readStart: ({ output }) => {
      const id = isJsonObject(output) ? vendorId(output['task_id']) : undefined;
      return id !== undefined ? { kind: 'operation', operation: { id } } : undefined;
    },

    nameOf: ({ id }) => id as string,
    writeCheck: (operation) => ({ method: 'GET', path: taskPath(operation) }),
    readCheck: stateOf,
    readFailure: readDashscopeFailure,

    writeCancel: (operation) => ({ method: 'POST', path: `${taskPath(operation)}/cancel` }),
    readCancel,

    verification: DASHSCOPE.verification,
    readCost: costOf,
  };
}

function stateOf({ output, usage }: JsonObject): ReadState | undefined {
  if (!isJsonObject(output)) return undefined;
  const { task_status: status } = output;
  switch (stateWord(status)) {
    case 'pending':
    case 'running':
    case 'suspended':
      return { state: 'pending' };
    case 'succeeded':
      return delivered(output, isJsonObject(usage) ? usage : {});
    case 'failed':
      return failedBecause(dashscopeFailureReason(output));
    case 'canceled':
      return failedBecause('work_stopped');
    case 'unknown':
      return failedBecause('work_lost');
    default:
      return typeof status === 'string' ? { state: 'strange', word: status } : undefined;
  }
}

function delivered({ video_url: url }: JsonObject, { output_video_duration: seconds }: JsonObject): OperationState {
  if (typeof url !== 'string') return failedBecause('nothing_delivered');
  const length = typeof seconds === 'number' ? { seconds } : {};
  return { state: 'succeeded', outputs: [{ role: 'output', contentType: 'video/mp4', url, ...length }] };
}

/** Work that waits is stopped; a refusal says that it does not wait any more. */
function readCancel({ status }: VendorReply): 'cancelled' | 'too_late' | undefined {
  if (isDone(status)) return 'cancelled';
  return status === 400 || status === 404 || status === 409 ? 'too_late' : undefined;
}

/** What was billed: seconds of a resolution, those of a reference video too. */
function costOf({ usage }: JsonObject): VendorCost | undefined {
  const { duration, SR: lines } = isJsonObject(usage) ? usage : {};
  const isKnown = typeof lines === 'number' || (typeof lines === 'string' && /^\d{3,4}$/.test(lines));
  return costIn(isKnown ? `seconds_${lines}p` : 'seconds', duration);
}
