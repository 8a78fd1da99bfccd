import {
  failedBecause,
  isJsonObject,
  type JsonObject,
  type Operation,
  type OperationState,
  type PlannedOrder,
  type ProviderOutput,
  type Started,
} from '#contracts';
import type {
  MediaCodec,
  PlannedReference,
  ReadState,
  ReferenceForm,
  ReferenceWay,
  VendorRequest,
} from '../http/media-codec.js';
import { bearer, klingCredentials } from './kling-credentials.js';
import { klingFailureReason, readKlingFailure } from './kling-failures.js';
import { stateWord } from '../http/state-words.js';
import { costIn } from '../http/stated-cost.js';
import { vendorId } from '../http/vendor-id.js';
import { mapDelta } from './map-delta.js';

/** A task is asked about under the path that it was ordered at. */
const FROM_TEXT = '/v1/videos/text2video';
const FROM_IMAGES = '/v1/videos/image2video';
const LINK_LIFE_MS = 30 * 24 * 60 * 60_000;

const pathOf = ({ references }: PlannedOrder): string => (references.length > 0 ? FROM_IMAGES : FROM_TEXT);

/** Videos of Kling (vendors.md 8). */
export const klingCodec: MediaCodec = {
  protocol: 'kling',
  traits: {
    style: 'task',
    // Our task id goes with the order, and orders can be asked about by it.
    repeatStart: 'lookup',
    startTimeoutMs: 60_000,
    findableAfterMs: 30_000,
    firstCheckMs: 15_000,
    checkEveryMs: 6_000,
    checkTimeoutMs: 10_000,
  },
  defaultBaseUrl: 'https://api-singapore.klingai.com',
  domains: ['klingai.com'],
  models: new Map([['delta-v2-6', 'kling-v2-6']]),
  authorization: bearer,
  credentials: klingCredentials,
  keyMistake: (key) =>
    /^[^:]+(?::[^:]+)?$/.test(key) ? undefined : 'must be an API key, or ACCESS_KEY:SECRET_KEY with one colon',
  referenceForm: formOf,
  ticket: (order) => ({ path: pathOf(order), clientRef: order.taskId, watermark: order.output.watermark }),

  callback: { field: 'callback_url' },
  writeStart: (order, { model }, file) => ({
    method: 'POST',
    path: pathOf(order),
    body: mapDelta(order, model, file),
  }),
  readStart: (body, order) => {
    const data = dataIn(body, 'start');
    return started(data, pathOf(order), order.output.watermark);
  },

  nameOf: ({ id }) => id as string,
  writeCheck: ({ path, id }) => question(path as string, id as string),
  readCheck: (body, operation) => stateOf(dataIn(body, 'check'), operation),
  readFailure: readKlingFailure,

  writeFind: ({ path, clientRef }) => question(path as string, clientRef as string),
  readFind: (body, { path, watermark }) => started(dataIn(body, 'find'), path as string, watermark === true),
  isNotThere: ({ status }) => status === 404,

  verification: { method: 'GET', path: `${FROM_TEXT}?pageNum=1&pageSize=1` },
  // What was taken from the resource package.
  readCost: ({ data }) => costIn('units', isJsonObject(data) ? data['final_unit_deduction'] : undefined),
};

/** About an order by the vendor's id of it or by ours. */
const question = (path: string, id: string): VendorRequest => ({
  method: 'GET',
  path: `${path}/${encodeURIComponent(id)}`,
});

/** A link, or the digits of the file alone: no data URI. */
function formOf({ source }: PlannedReference, way: ReferenceWay | undefined): ReferenceForm {
  if (way !== undefined) return way === 'url' ? 'url' : 'base64';
  return source.startsWith('data:') ? 'base64' : 'url';
}

/** @throws MediaFailure for an error inside a reply of status 200. */
function dataIn(body: JsonObject, verb: 'start' | 'check' | 'find'): JsonObject | undefined {
  const { code, data } = body;
  if (code !== undefined && code !== 0 && code !== '0')
    throw readKlingFailure({ status: 200, headers: {}, body }, verb);
  return isJsonObject(data) ? data : undefined;
}

function started(data: JsonObject | undefined, path: string, watermark: boolean): Started | undefined {
  const id = vendorId(data?.['task_id']);
  return id !== undefined ? { kind: 'operation', operation: { path, id, watermark } } : undefined;
}

function stateOf(data: JsonObject | undefined, operation: Operation): ReadState | undefined {
  if (data === undefined) return undefined;
  const { task_status: status, task_status_msg: sentence } = data;
  switch (stateWord(status)) {
    case 'submitted':
    case 'processing':
      return { state: 'pending' };
    case 'succeed':
      return delivered(data, operation);
    case 'failed':
      return failedBecause(klingFailureReason(typeof sentence === 'string' ? sentence : ''));
    default:
      return typeof status === 'string' ? { state: 'strange', word: status } : undefined;
  }
}

function delivered(
  { task_result: result, updated_at: updatedAt }: JsonObject,
  { watermark }: Operation,
): OperationState {
  const videos = isJsonObject(result) && Array.isArray(result['videos']) ? result['videos'] : [];
  const outputs = videos.flatMap((video): ProviderOutput[] => {
    // Where a label was ordered, only the video that carries it is handed over.
    const url = isJsonObject(video) ? video[watermark === true ? 'watermark_url' : 'url'] : undefined;
    if (!isJsonObject(video) || typeof url !== 'string' || url === '') return [];
    const seconds = Number(video['duration']);
    return [
      {
        role: 'output',
        contentType: 'video/mp4',
        url,
        ...(seconds > 0 && { seconds }),
        ...(typeof updatedAt === 'number' && { expiresAtMs: updatedAt + LINK_LIFE_MS }),
      },
    ];
  });
  return outputs.length > 0 ? { state: 'succeeded', outputs } : failedBecause('nothing_delivered');
}
