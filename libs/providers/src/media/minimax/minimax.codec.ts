import {
  type Epsilon02Request,
  type Epsilon23Request,
  failedBecause,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type MediaFailure,
  omitUndefined,
  type OperationState,
  type PlannedOrder,
  type Started,
  type Verified,
} from '#contracts';
import {
  deliveredVideo,
  QUESTIONS,
  stateBy,
  stateWord,
  UNUSABLE_FILE,
  taken,
  vendorId,
  VendorErrors,
} from '../http/failure-rules.js';
import {
  asSent,
  bearer,
  fieldIn,
  type FileAddress,
  framesOf,
  isDone,
  type MediaCodec,
  type ReadState,
  taskTraits,
  type VendorReply,
  type Verb,
} from '../http/media-codec.js';

/**
 * Request body for the epsilon families: Hailuo 2.3 and 02. What is sold as 5 s is made as 6: the vendor
 * makes 6 or 10.
 */
function mapEpsilon(order: PlannedOrder, model: string, file: FileAddress): JsonObject {
  const asked = order.parameters as JsonObject & (Epsilon02Request | Epsilon23Request);
  const { first, last } = framesOf(order, file, 'last_frame_image');
  return omitUndefined({
    model,
    prompt: asked.prompt,
    duration: asked.duration === 5 ? 6 : asked.duration,
    resolution: asked.resolution.toUpperCase(),
    prompt_optimizer: asked.prompt_optimizer,
    // The page of orders with two frames does not name it.
    fast_pretreatment: last === undefined ? asked.fast_pretreatment : undefined,
    aigc_watermark: asked.watermark,
    first_frame_image: first,
    last_frame_image: last,
  });
}

/** MiniMax's own status codes, which come with HTTP status 200; by its page of error codes as of November 2026. */
const ERRORS = new VendorErrors(
  [
    { code: ['1004', '2049'], is: 'wrong_key' },
    // The balance, or what a plan allows.
    { code: ['1008', '1028', '1030', '2056'], is: 'unpaid' },
    // The owner of the account has not proved who they are.
    { code: ['2038'], is: 'not_served' },
    { code: ['2061'], is: 'not_served_model' },
    { code: ['1002', '1039', '1041', '2045'], is: 'busy' },
    // It broke, and does not say whether before or after it took the order.
    { code: ['1000', '1001', '1024', '1033'], on: ['start'], is: 'unanswered' },
    { code: ['1026'], is: 'content' },
    { code: ['1027'], is: 'result' },
    { status: [404], on: ['check', 'result'], is: 'lost' },
    // The only parameter of a question is the id of the work, or of its file.
    { code: ['2013'], on: QUESTIONS, is: 'lost' },
    { code: ['2013'], says: UNUSABLE_FILE, is: 'file' },
    { code: ['1042', '2013'], is: 'not_possible' },
  ],
  errorOf,
);

/** The failure inside a reply of status 200; undefined when all is well. */
function failureInside(body: JsonObject, verb: Verb): MediaFailure | undefined {
  return statusCodeOf(body) === '0' ? undefined : ERRORS.inside(body, verb);
}

/** The code of a reply, `0` when all is well; undefined when the reply is none of MiniMax. */
function statusCodeOf(body: JsonObject): string | undefined {
  const response = body['base_resp'];
  const code = isJsonObject(response) ? response['status_code'] : undefined;
  return typeof code === 'number' || (typeof code === 'string' && /^\d+$/.test(code)) ? String(code) : undefined;
}

/** The newer part of its API says an error as an object of its own. */
function errorOf(body: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(body)) return undefined;
  if (!isJsonObject(body['base_resp'])) return body['type'] === 'error' ? wordsOfError(body['error']) : undefined;
  const { status_code: code = '', status_msg: message = '' } = body['base_resp'];
  return { code, message };
}

/** Its code may stand behind the sentence, as in `invalid params (2013)`. */
function wordsOfError(error: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(error)) return undefined;
  const { code, http_code: status, message = '' } = error;
  const [, inSentence] = typeof message === 'string' ? (/\((\d{4})\)$/.exec(message) ?? []) : [];
  return { code: code ?? inSentence ?? status ?? '', message };
}

/** In characters. */
const MAX_CHALLENGE = 1_000;
const QUERY = '/v1/query/video_generation?task_id=';

/** Videos from MiniMax Hailuo: submit, poll, and one more request for the file. */
export const minimaxCodec: MediaCodec = {
  protocol: 'minimax',
  // A video of 6 s takes minutes.
  traits: taskTraits({ firstCheckMs: 30_000, checkEveryMs: 10_000 }),
  defaultBaseUrl: 'https://api.minimax.io',
  domains: ['minimax.com', 'minimax.io', 'minimaxi.com', 'minimaxi.io'],
  models: new Map([
    ['epsilon-2.3', 'MiniMax-Hailuo-2.3'],
    ['epsilon-2.3-Fast', 'MiniMax-Hailuo-2.3-Fast'],
    ['epsilon-02', 'MiniMax-Hailuo-02'],
  ]),
  marks: ['base_resp'],
  authorization: bearer,
  referenceForm: asSent,

  callback: { field: 'callback_url' },
  // Before the vendor calls an address it asks it to repeat a word, within three seconds.
  readCallback: ({ body }) => {
    const challenge = body?.['challenge'];
    return { reply: typeof challenge === 'string' && challenge.length <= MAX_CHALLENGE ? { challenge } : {} };
  },

  writeStart: (order, { model }, file) => ({
    method: 'POST',
    path: '/v1/video_generation',
    body: mapEpsilon(order, model, file),
  }),
  readStart,

  nameOf: ({ id }) => id as string,
  writeCheck: ({ id }) => ({ method: 'GET', path: QUERY + encodeURIComponent(id as string) }),
  readCheck: stateOf,
  readFailure: ERRORS.read,

  verification: { method: 'GET', path: `${QUERY}0` },
  readVerification: verified,
};

function readStart(body: JsonObject): Started | undefined {
  if (statusCodeOf(body) === undefined) return undefined;
  const failure = failureInside(body, 'start');
  if (failure) throw failure;
  return taken(body['task_id']);
}

function stateOf(body: JsonObject): ReadState | undefined {
  const { status } = body;
  // Why it failed stands where a refused question would say so.
  if (stateWord(status) === 'fail') return failedBecause(ERRORS.ofWork(errorOf(body)));
  const failure = failureInside(body, 'check');
  if (failure) throw failure;
  return stateBy(status, ['preparing', 'queueing', 'processing'], { succeeded: () => filed(body) });
}

/** The video is a file, whose link has to be asked for. */
function filed(body: JsonObject): ReadState {
  const file = vendorId(body['file_id']);
  if (file === undefined) return failedBecause('nothing_delivered');
  const request = { method: 'GET', path: `/v1/files/retrieve?file_id=${encodeURIComponent(file)}` } as const;
  return { state: 'elsewhere', request, read: delivered };
}

function delivered(body: JsonObject): OperationState {
  const failure = failureInside(body, 'result');
  if (failure) throw failure;
  return deliveredVideo(fieldIn(body['file'], 'download_url'));
}

/** Of work that does not exist: only what the reply says about the key, the balance and the rate counts. */
function verified({ status, body }: VendorReply): Verified | undefined {
  if (!isDone(status) || !isJsonObject(body)) return undefined;
  if (statusCodeOf(body) === undefined) return { ok: false, problem: 'not_this_protocol', vendor: { status } };
  const { kind } = ERRORS.read({ status, headers: {}, body }, 'verify');
  return kind === 'unfit' || kind === 'busy' ? undefined : { ok: true };
}
