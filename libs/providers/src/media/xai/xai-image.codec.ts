import {
  type IotaEditRequest,
  type IotaRequest,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MEDIA_REASONS,
  MediaFailure,
  type PlannedOrder,
  type ProviderOutput,
  type Started,
  type UndeliveredOutput,
  type VendorCost,
} from '#contracts';
import { failureBy, type FailureRule, type RefusalFacts } from '../http/failure-rules.js';
import { type FileAddress, isDone, type MediaCodec, type VendorReply, type Verb } from '../http/media-codec.js';
import { costIn } from '../http/vendor-words.js';

const POLICY = /moderat|content polic|safety|violat/i;
const WRONG_KEY = /api key/i;
const UNPAID = /credit|balance|billing|spending limit/i;

/** A wrong key comes as a 400 as often as not, and through some proxies with status 200. */
const isWrongKey = ({ status, message }: RefusalFacts): boolean =>
  (status === 400 || isDone(status)) && WRONG_KEY.test(message);

/** Errors of xAI: the status says little, the sentence says more. */
const RULES: readonly FailureRule[] = [
  {
    when: ({ status, message }) => (status === 429 || status === 403) && UNPAID.test(message),
    kind: 'unfit',
    reason: 'not_paid',
  },
  { when: isWrongKey, kind: 'unfit', reason: 'wrong_key' },
  {
    when: ({ status, message, verb }) => verb === 'start' && status < 429 && POLICY.test(message),
    kind: 'refused',
    reason: 'content_refused',
  },
];

const readXaiFailure = (reply: VendorReply, verb: Verb): MediaFailure =>
  failureBy(RULES, reply, errorOf(reply.body), verb);

/** An error object, or a sentence with its code beside it. */
function errorOf(body: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(body)) return undefined;
  const { error, code } = body;
  return typeof error === 'string' ? { message: error, ...(code !== undefined && { code }) } : error;
}

/** Request body for iota-1.0-reseller. */
function mapIota({ parameters }: PlannedOrder, model: string): JsonObject {
  const { prompt, n, size } = parameters as JsonObject & IotaRequest;
  return { model, prompt, n, aspect_ratio: size, response_format: 'url' };
}

/** Request body for iota-1.0-edit-reseller: the shape follows the image. */
function mapIotaEdit({ parameters }: PlannedOrder, model: string, file: FileAddress): JsonObject {
  const { prompt, n } = parameters as JsonObject & IotaEditRequest;
  return { model, prompt, n, image: { url: file('image_urls[0]'), type: 'image_url' }, response_format: 'url' };
}

const MODEL = 'grok-imagine-image';
const EDIT = 'iota-1.0-edit-reseller';

/** Images from xAI: one long request whose response has the files. */
export const xaiImageCodec: MediaCodec = {
  protocol: 'xai-image',
  traits: {
    style: 'call',
    repeatStart: 'unknown',
    startTimeoutMs: 180_000,
    findableAfterMs: 0,
    firstCheckMs: 0,
    checkEveryMs: 0,
    checkTimeoutMs: 10_000,
  },
  defaultBaseUrl: 'https://api.x.ai/v1',
  domains: ['x.ai'],
  models: new Map([
    ['iota-1.0-reseller', MODEL],
    [EDIT, MODEL],
  ]),
  authorization: (key) => ({ authorization: `Bearer ${key}` }),
  referenceForm: (_, way) => way ?? 'sent',

  writeStart: (order, { model }, file) =>
    order.model === EDIT
      ? { method: 'POST', path: '/images/edits', body: mapIotaEdit(order, model, file) }
      : { method: 'POST', path: '/images/generations', body: mapIota(order, model) },
  readStart: finished,
  readFailure: readXaiFailure,

  verification: { method: 'GET', path: '/models' },
  readCost: costOf,
};

function finished({ data }: JsonObject): Started | undefined {
  if (!Array.isArray(data)) return undefined;
  const outputs: ProviderOutput[] = [];
  const missing: UndeliveredOutput[] = [];
  for (const [ordinal, item] of data.entries()) {
    const output = outputOf(item);
    if (output) outputs.push(output);
    else missing.push(withheld(ordinal));
  }
  if (outputs.length === 0)
    throw new MediaFailure('refused', data.length > 0 ? 'result_refused' : 'nothing_delivered', {
      vendor: { status: 200 },
    });
  return { kind: 'finished', outputs, ...(missing.length > 0 && { missing }) };
}

/** Undefined for an image that was withheld: it comes with status 200, and sometimes with a link to nothing. */
function outputOf(item: JsonValue): ProviderOutput | undefined {
  if (!isJsonObject(item) || item['respect_moderation'] === false) return undefined;
  const { url, mime_type: type } = item;
  if (typeof url !== 'string' || url === '') return undefined;
  return { role: 'output', contentType: typeof type === 'string' ? type : 'image/jpeg', url };
}

const withheld = (ordinal: number): UndeliveredOutput => ({ ordinal, ...MEDIA_REASONS.result_refused });

function costOf({ usage }: JsonObject): VendorCost | undefined {
  return costIn('usd_ticks', isJsonObject(usage) ? usage['cost_in_usd_ticks'] : undefined);
}
