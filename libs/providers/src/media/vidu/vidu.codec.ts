import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  type CallbackRequest,
  failedBecause,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  omitUndefined,
  type Operation,
  type OperationState,
  type PlannedOrder,
  type Verified,
  type ZetaQ3ProRequest,
  type ZetaQ3Request,
} from '#contracts';
import { costIn, deliveredVideo, stateBy, taken, VendorErrors } from '../http/failure-rules.js';
import {
  asSent,
  cancelledBy,
  chosenSeed,
  fieldIn,
  type FileAddress,
  type MediaCodec,
  type ReadState,
  refuseIf,
  taskTraits,
  type VendorReply,
} from '../http/media-codec.js';

/** The signer, as the vendor names itself. */
const ACCESS_KEY = 'vidu';
/** The most headers that one signature may cover; more are refused. */
const MOST_HEADERS = 16;

/**
 * Whether a call was signed with the API key: HMAC-SHA256 over method, path, query, access key, Date and the signed headers,
 * each on a line that ends (platform.vidu.com: callback signature).
 */
function isSignedByVidu(request: CallbackRequest, key: string): boolean {
  const header = (name: string): string | undefined => {
    const value = request.headers[name.toLowerCase()];
    return typeof value === 'string' ? value : undefined;
  };
  const signature = header('x-hmac-signature');
  const date = header('date');
  const named = header('x-hmac-signed-headers')?.split(';').filter(Boolean) ?? [];
  if (signature === undefined || date === undefined || named.length > MOST_HEADERS) return false;
  const signed = named.map((name) => `${name}:${header(name) ?? ''}`);
  const lines = [request.method, request.path, request.query, ACCESS_KEY, date, ...signed];
  const expected = createHmac('sha256', key)
    .update(lines.map((line) => `${line}\n`).join(''))
    .digest();
  const sent = Buffer.from(signature, 'base64');
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}

/** Vidu's error codes, in replies and in failed tasks, as of November 2026. */
const ERRORS = new VendorErrors(
  [
    // As many tasks at once as the account may have.
    { code: ['QuotaExceeded'], is: 'busy_running' },
    { code: ['TooManyRequests', 'SystemThrottling', 'OperationInProcess'], is: 'busy' },
    { code: ['CreditInsufficient'], is: 'unpaid' },
    { code: ['ModelUnavailable'], is: 'not_served_model' },
    { code: ['ImageDownload*', 'ImageFormat*', 'ImageCheck*', 'ImageObjectsUndetected'], is: 'file' },
    { code: ['TaskPromptPolicyViolation'], is: 'prompt' },
    { code: ['AuditSubmitIllegal'], is: 'content' },
    { code: ['CreationPolicyViolation'], is: 'result' },
    { code: ['UserCancelled'], on: ['work'], is: 'stopped' },
    { status: [404], on: ['check'], is: 'lost' },
    { code: ['TaskNotFound', 'CreationNotFound'], on: ['check'], is: 'lost' },
  ],
  errorOf,
);

/** `code` is the status once more; the word is `reason`. */
function errorOf(body: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(body)) return undefined;
  const { reason: code = '', message = '' } = body;
  return { code, message };
}

/** What follows `/ent/v2/` in the address, by what an order is made from. */
const PATHS: Readonly<Record<string, string>> = {
  'text-to-video': 'text2video',
  'image-to-video': 'img2video',
  'first-last-frame': 'start-end2video',
  'reference-to-video': 'reference2video',
};

/** Request for the zeta families: Vidu Q3. */
function mapZeta(
  order: PlannedOrder,
  model: string,
  file: FileAddress,
): { readonly path: string; readonly body: JsonObject } {
  const asked = order.parameters as JsonObject & (ZetaQ3ProRequest | ZetaQ3Request);
  const images = order.references.map(({ param }) => file(param));
  refuseIf(
    asked.seed === 0,
    'seed',
    'seed must not be 0 here: this vendor takes 0 for no seed. Send -1 for a random one, or another number.',
  );
  return {
    path: PATHS[order.mode] ?? 'text2video',
    body: omitUndefined({
      model,
      prompt: asked.prompt,
      images: images.length > 0 ? images : undefined,
      duration: asked.duration,
      resolution: asked.resolution,
      aspect_ratio: asked.aspect_ratio,
      // The vendor's own default is true; what is made from references is sold without sound.
      audio: 'audio' in asked ? asked.audio : false,
      seed: chosenSeed(asked.seed),
      // Comes back in every reply, so that an operator finds our task by the vendor's.
      payload: order.taskId,
    }),
  };
}

const taskPath = ({ id }: Operation): string => `/ent/v2/tasks/${encodeURIComponent(id as string)}`;

/** Videos from Vidu Q3. */
export const viduCodec: MediaCodec = {
  protocol: 'vidu',
  // `payload` comes back in replies, but nothing searches for it.
  traits: taskTraits({ firstCheckMs: 10_000, checkEveryMs: 5_000 }),
  defaultBaseUrl: 'https://api.vidu.com',
  domains: ['vidu.cn', 'vidu.com'],
  models: new Map([
    ['zeta-q3-pro', 'viduq3-pro'],
    ['zeta-q3-turbo', 'viduq3-turbo'],
    ['zeta-q3', 'viduq3'],
    ['zeta-q3-mix', 'viduq3-mix'],
  ]),
  marks: ['state', 'task_id'],
  authorization: (key) => ({ authorization: `Token ${key}` }),
  referenceForm: asSent,

  callback: { field: 'callback_url' },
  readCallback: (request, key) => (isSignedByVidu(request, key) ? { reply: {} } : 'forged'),

  writeStart: (order, { model }, file) => {
    const { path, body } = mapZeta(order, model, file);
    return { method: 'POST', path: `/ent/v2/${path}`, body };
  },
  readStart: ({ task_id: id }) => taken(id),

  nameOf: ({ id }) => id as string,
  writeCheck: (operation) => ({ method: 'GET', path: `${taskPath(operation)}/creations` }),
  readCheck: stateOf,
  readFailure: ERRORS.read,

  writeCancel: (operation) => ({
    method: 'POST',
    path: `${taskPath(operation)}/cancel`,
    body: { id: operation['id'] as string },
  }),
  // Only a task that still waits is stopped; any other is a 400.
  readCancel: cancelledBy(400, 404),

  verification: { method: 'GET', path: '/ent/v2/credits?show_detail=false' },
  readVerification: verified,
  readCost: ({ credits }) => costIn('credits', credits),
};

function stateOf(body: JsonObject): ReadState | undefined {
  return stateBy(body['state'], ['created', 'queueing', 'processing'], {
    succeeded: () => delivered(body),
    failed: () => failedBecause(ERRORS.ofWork({ code: body['err_code'] ?? '' })),
  });
}

function delivered({ creations }: JsonObject): OperationState {
  const [first] = Array.isArray(creations) ? creations : [];
  return deliveredVideo(fieldIn(first, 'url'));
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
