import { SignJWT } from 'jose';
import {
  type DeltaV26Request,
  failedBecause,
  isJsonObject,
  type JsonObject,
  type MediaFailure,
  type MediaReason,
  type Operation,
  type OperationState,
  type PlannedOrder,
  type ProviderOutput,
  type Started,
} from '#contracts';
import { type Credentials, keyCredentials } from '../http/credentials.js';
import { failureBy, type FailureRule } from '../http/failure-rules.js';
import { refuseLonger } from '../http/mapping.js';
import type {
  FileAddress,
  MediaCodec,
  PlannedReference,
  ReadState,
  ReferenceForm,
  ReferenceWay,
  VendorReply,
  VendorRequest,
  Verb,
} from '../http/media-codec.js';
import { clockAheadMs, costIn, stateWord, vendorId, wordsOf } from '../http/vendor-words.js';

const TEXT_CHARACTERS = 2_500;

/** Request body for delta-v2-6: Kling v2.6. */
function mapDelta(order: PlannedOrder, model: string, file: FileAddress): JsonObject {
  const asked = order.parameters as JsonObject & DeltaV26Request;
  const { negative_prompt: avoided, watermark } = asked;
  refuseLonger('negative_prompt', avoided, TEXT_CHARACTERS);
  const [first, last] = order.references.map(({ param }) => file(param));
  return {
    model_name: model,
    prompt: asked.prompt,
    ...(avoided !== undefined && { negative_prompt: avoided }),
    mode: asked.mode,
    duration: String(asked.duration),
    // The shape follows an image; sound belongs to the grade pro, and silence is the vendor's default.
    ...(first === undefined && { aspect_ratio: asked.aspect_ratio }),
    ...(first !== undefined && { image: first }),
    ...(last !== undefined && { image_tail: last }),
    ...(asked.audio && { sound: 'on' }),
    ...(watermark !== undefined && { watermark_info: { enabled: watermark } }),
    // What a lost order is searched by.
    external_task_id: order.taskId,
  };
}

const is = (...codes: readonly string[]) => {
  const known = new Set(codes);
  return ({ code }: { readonly code: string }): boolean => known.has(code);
};

/** Kling's error codes. The HTTP status alone says little: 429 may also mean an empty balance. */
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

const readKlingFailure = (reply: VendorReply, verb: Verb): MediaFailure => failureBy(RULES, reply, reply.body, verb);

const REFUSED = /risk|sensitive|polic|violat|moderat|inappropriate/i;

/** Why work that was taken failed, by the vendor's sentence: it gives no code. */
const klingFailureReason = (sentence: string): MediaReason =>
  REFUSED.test(sentence) ? 'result_refused' : 'work_failed';

/** How long a token is valid, and how long before it was signed its validity begins, in seconds. */
const LIFE_SECONDS = 1_800;
const EARLIER_SECONDS = 5;

/** Codes for a token that does not hold yet, and for one that holds no more. */
const OTHER_TIME = new Set(['1003', '1004']);

const bearer = (key: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${key}` });

/**
 * An API key as it is, or `ACCESS_KEY:SECRET_KEY`, from which a token is signed for each call. A token that came at the
 * wrong time is signed once more by the vendor's own clock.
 */
function klingCredentials(key: string): Credentials {
  const [accessKey = '', secretKey] = key.split(':', 2);
  if (secretKey === undefined) return keyCredentials(key, { authorization: bearer });
  const secret = new TextEncoder().encode(secretKey);
  let aheadMs = 0;
  return {
    headers: async () => {
      const now = Math.floor((Date.now() + aheadMs) / 1_000);
      const token = await new SignJWT()
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuer(accessKey)
        .setNotBefore(now - EARLIER_SECONDS)
        .setExpirationTime(now + LIFE_SECONDS)
        .sign(secret);
      return bearer(token);
    },
    renewedAfter: (reply) => {
      const { code } = wordsOf(reply.status, reply.body);
      const ahead = clockAheadMs(reply);
      if (code === undefined || !OTHER_TIME.has(code) || ahead === undefined) return false;
      aheadMs = ahead;
      return true;
    },
    secrets: () => [secretKey, accessKey],
  };
}

/** A task is asked about under the path that it was ordered at. */
const FROM_TEXT = '/v1/videos/text2video';
const FROM_IMAGES = '/v1/videos/image2video';
const LINK_LIFE_MS = 30 * 24 * 60 * 60_000;

const pathOf = ({ references }: PlannedOrder): string => (references.length > 0 ? FROM_IMAGES : FROM_TEXT);

/** Videos from Kling. */
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
