import { SignJWT } from 'jose';
import {
  type DeltaV26Request,
  failedBecause,
  isJsonObject,
  type JsonObject,
  type Operation,
  type OperationState,
  type PlannedOrder,
  type UpstreamOutput,
  type VendorCost,
} from '#contracts';
import { clockAheadMs, costIn, stateBy, UNUSABLE_FILE, taken, wordsOf, VendorErrors } from '../http/failure-rules.js';
import {
  bearer,
  type Credentials,
  type FileAddress,
  keyCredentials,
  type MediaCodec,
  type PlannedReference,
  type ReadState,
  type ReferenceForm,
  type ReferenceWay,
  taskTraits,
  type VendorRequest,
} from '../http/media-codec.js';

/** Request body for delta-v2-6: Kling v2.6. */
function mapDelta(order: PlannedOrder, model: string, file: FileAddress): JsonObject {
  const asked = order.parameters as JsonObject & DeltaV26Request;
  const { negative_prompt: avoided, watermark } = asked;
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

/** The vendor's sentence about failed work has no code. */
const WITHHELD = /risk|sensitive|polic|violat|moderat|inappropriate/i;

/** Kling's error codes as of November 2026. The HTTP status alone says little: 429 may also mean an empty balance. */
const ERRORS = new VendorErrors([
  { code: ['1000', '1001', '1002', '1003', '1004'], is: 'wrong_key' },
  { code: ['1101', '1102'], is: 'unpaid' },
  { code: ['1100', '1103', '1304'], is: 'not_served' },
  { code: ['1302'], is: 'busy' },
  { code: ['1303'], is: 'busy_running' },
  { status: [404], on: ['check'], is: 'lost' },
  { code: ['1202', '1203'], is: 'not_served_model' },
  { code: ['1300', '1301'], on: ['start'], is: 'content' },
  // Our own order is there already, perhaps from a call whose reply was lost.
  { says: /external_task_id/, on: ['start'], is: 'unanswered' },
  { code: ['1201'], says: UNUSABLE_FILE, on: ['start'], is: 'file' },
  { code: ['1200', '1201'], is: 'not_possible' },
  { code: ['5000', '5001', '5002'], is: 'away' },
  { on: ['work'], says: WITHHELD, is: 'result' },
]);

/** How long a token is valid, and how long before it was signed its validity begins, in seconds. */
const LIFE_SECONDS = 1_800;
const EARLIER_SECONDS = 5;

/** Codes for a token that does not hold yet, and for one that holds no more. */
const OTHER_TIME = new Set(['1003', '1004']);

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

export const klingCodec: MediaCodec = {
  protocol: 'kling',
  traits: taskTraits({
    // Our task id goes with the order, and orders can be asked about by it.
    repeatStart: 'lookup',
    findableAfterMs: 30_000,
    firstCheckMs: 15_000,
    checkEveryMs: 6_000,
  }),
  defaultBaseUrl: 'https://api-singapore.klingai.com',
  domains: ['klingai.com'],
  models: new Map([['delta-v2-6', 'kling-v2-6']]),
  marks: ['data'],
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
  readStart: (body, order) =>
    taken(dataIn(body, 'start')?.['task_id'], { path: pathOf(order), watermark: order.output.watermark }),

  nameOf: ({ id }) => id as string,
  writeCheck: ({ path, id }) => question(path as string, id as string),
  readCheck: (body, operation) => stateOf(dataIn(body, 'check'), operation),
  readFailure: ERRORS.read,

  writeFind: ({ path, clientRef }) => question(path as string, clientRef as string),
  readFind: (body, { path, watermark }) =>
    // Whether an order that is not there is a 404 or this code is said in no page of the vendor.
    wordsOf(undefined, body).code === NOT_THERE
      ? null
      : taken(dataIn(body, 'find')?.['task_id'], { path: path as string, watermark: watermark === true }),
  isNotThere: ({ status }) => status === 404,

  verification: { method: 'GET', path: `${FROM_TEXT}?pageNum=1&pageSize=1` },
  readCost: costOf,
};

/** What was asked for does not exist. */
const NOT_THERE = '1203';

/** What was taken from the resource package, or from the balance where there is none. */
function costOf({ data }: JsonObject): VendorCost | undefined {
  const { final_unit_deduction: units, final_balance_deduction: balance } = isJsonObject(data) ? data : {};
  return costIn('units', units) ?? costIn('balance', balance);
}

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
  if (code !== undefined && code !== 0 && code !== '0') throw ERRORS.inside(body, verb);
  return isJsonObject(data) ? data : undefined;
}

function stateOf(data: JsonObject | undefined, operation: Operation): ReadState | undefined {
  return (
    data &&
    stateBy(data['task_status'], ['submitted', 'processing'], {
      succeeded: () => delivered(data, operation),
      failed: () => failedBecause(ERRORS.ofWork({ message: data['task_status_msg'] ?? '' })),
    })
  );
}

function delivered(
  { task_result: result, updated_at: updatedAt }: JsonObject,
  { watermark }: Operation,
): OperationState {
  const videos = isJsonObject(result) && Array.isArray(result['videos']) ? result['videos'] : [];
  const outputs = videos.flatMap((video): UpstreamOutput[] => {
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
