import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MediaFailure,
  type Operation,
  type OperationState,
  type Started,
  type UpstreamOutput,
} from '#contracts';
import { QUESTIONS, stateBy, VendorErrors } from '../http/failure-rules.js';
import {
  cancelledBy,
  deliveredAt,
  type MediaCodec,
  NotMakeable,
  type ReadState,
  taskTraits,
} from '../http/media-codec.js';
import { FAL_MODELS, falMappingOf } from './fal-models.js';

/** Error types of fal (fal.ai/docs: model errors, request errors). A finished request answers with the error of its work. */
const ERRORS = new VendorErrors(
  [
    { status: [403], says: /balance|top.?up|billing/i, is: 'unpaid' },
    { code: ['content_policy_violation'], is: 'content' },
    // About a file: its size, its format, or that it could not be fetched.
    {
      status: [200, 400, 404, 413, 415, 422],
      code: ['archive_*', 'audio_*', 'face_*', 'file_*', 'image_*', 'unsupported_*', 'video_*'],
      is: 'file',
    },
    { status: [404], on: QUESTIONS, is: 'lost' },
    { code: ['client_cancelled'], on: ['result'], is: 'stopped' },
    { code: ['generation_timeout', 'request_timeout', 'startup_timeout'], on: ['result'], is: 'expired' },
    { status: [422], on: ['result'], is: 'parameter' },
    // Without a type, it is the queue itself that broke.
    { status: 'broken', code: ['*_*'], on: ['result'], is: 'failed' },
  ],
  errorOf,
);

/** Errors of a model are a list, those of the queue a sentence with a type beside it. */
function errorOf(body: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(body)) return undefined;
  const { detail, error_type: type } = body;
  if (typeof detail === 'string') return { message: detail, ...(type !== undefined && { code: type }) };
  const first: JsonValue | undefined = Array.isArray(detail) ? detail[0] : undefined;
  if (!isJsonObject(first)) return undefined;
  const { msg: message = '', type: code = '' } = first;
  return { message, code };
}

/** fal deletes what it made for us after this long; by then we have our copy. */
const FILES_LIVE = JSON.stringify({ expiration_duration_seconds: 24 * 60 * 60 });
/** A request that does not exist: asking for it proves the key. */
const NO_REQUEST = '/fal-ai/veo3.1/requests/00000000-0000-0000-0000-000000000000/status';

/** fal: one queue for the models of many makers (fal.ai/docs: queue, errors; types of @fal-ai/client 1.10.1). */
export const falCodec: MediaCodec = {
  protocol: 'fal',
  traits: taskTraits({ firstCheckMs: 2_000, checkEveryMs: 3_000 }),
  defaultBaseUrl: 'https://queue.fal.run',
  domains: ['fal.run'],
  models: FAL_MODELS,
  marks: ['status', 'status_url', 'video', 'images'],
  authorization: (key) => ({ authorization: `Key ${key}` }),
  // Images may come inline; videos and sounds by link only.
  referenceForm: ({ medium }, way) => (medium === 'image' ? (way ?? 'sent') : 'url'),

  // fal signs its calls with keys that it publishes; they need no proof, for nothing in them is believed.
  callback: { query: 'fal_webhook' },

  writeStart: (order, { model }, file) => {
    const mapping = falMappingOf(order.model);
    if (!mapping) throw new NotMakeable('model', `${order.model} is not offered here.`);
    const { endpoint, input } = mapping(order, file);
    return {
      method: 'POST',
      path: endpoint === undefined ? `/${model}` : `/${model}/${endpoint}`,
      headers: { 'x-fal-object-lifecycle-preference': FILES_LIVE },
      body: input,
    };
  },
  readStart,

  nameOf: ({ status }) => status as string,
  writeCheck: ({ status }) => ({ method: 'GET', path: status as string }),
  readCheck: stateOf,
  readFailure: ERRORS.read,

  writeCancel: ({ cancel }) => (typeof cancel === 'string' ? { method: 'PUT', path: cancel } : undefined),
  // Accepted also while it runs: then the maker decides whether it stops.
  readCancel: cancelledBy(400, 404),

  verification: { method: 'GET', path: NO_REQUEST },
  readVerification: ({ status, body }) =>
    status === 404 && isJsonObject(body) && 'detail' in body ? { ok: true } : undefined,
};

/**
 * fal asks that its addresses are taken as they come. Their host is left out: the key goes to the configured address only,
 * which may be a proxy.
 */
function readStart(body: JsonObject, { output }: { readonly output: { readonly count: number } }): Started | undefined {
  const [status, result, cancel] = ['status_url', 'response_url', 'cancel_url'].map((name) => pathIn(body[name]));
  if (status === undefined || result === undefined) return undefined;
  return { kind: 'operation', operation: { status, result, count: output.count, ...(cancel && { cancel }) } };
}

function pathIn(address: JsonValue | undefined): string | undefined {
  if (typeof address !== 'string' || !URL.canParse(address)) return undefined;
  const { pathname, search } = new URL(address);
  return pathname + search;
}

function stateOf({ status }: JsonObject, operation: Operation): ReadState | undefined {
  return stateBy(status, ['in_queue', 'in_progress'], {
    // Work that failed is completed too: then the result is its error.
    succeeded: () => ({
      state: 'elsewhere',
      request: { method: 'GET', path: operation['result'] as string },
      read: (body) => delivered(body, Number(operation['count'])),
    }),
  });
}

function delivered(body: JsonObject, count: number): OperationState {
  const { video, images, has_nsfw_concepts: withheld } = body;
  const files: readonly (JsonValue | undefined)[] = Array.isArray(images) ? images : [video];
  const places = Array.from({ length: Math.max(count, files.length) }, (_, ordinal) => files[ordinal]);
  const found = deliveredAt(places, (file, ordinal) => {
    // In its place stands a black image.
    if (Array.isArray(withheld) && withheld[ordinal] === true) return 'result_refused';
    return outputOf(file, Array.isArray(images) ? 'image/png' : 'video/mp4') ?? 'nothing_delivered';
  });
  if (found.outputs.length > 0) return { state: 'succeeded', ...found };
  const [first] = found.missing ?? [];
  throw new MediaFailure('refused', first?.code === 'content_policy' ? 'result_refused' : 'nothing_delivered');
}

function outputOf(file: JsonValue | undefined, usual: string): UpstreamOutput | undefined {
  if (!isJsonObject(file) || typeof file['url'] !== 'string') return undefined;
  const { url, content_type: type, duration } = file;
  return {
    role: 'output',
    contentType: typeof type === 'string' ? type : usual,
    url,
    ...(typeof duration === 'number' && { seconds: duration }),
  };
}
