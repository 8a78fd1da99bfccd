import {
  type IotaEditRequest,
  type IotaRequest,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MediaFailure,
  type PlannedOrder,
  type Started,
  type UpstreamOutput,
} from '#contracts';
import { costIn, VendorErrors, wordsOf } from '../http/failure-rules.js';
import {
  asSent,
  bearer,
  callTraits,
  fieldIn,
  type FileAddress,
  deliveredAt,
  type MediaCodec,
  type VendorReply,
} from '../http/media-codec.js';

const UNPAID = /credit|balance|billing|spending limit/i;

/** Errors of xAI: the status says little, the sentence says more. */
const ERRORS = new VendorErrors(
  [
    { status: [429, 403], says: UNPAID, is: 'unpaid' },
    // A wrong key comes as a 400 as often as not, and through some proxies with status 200.
    { status: [400, 200, 201, 202], says: /api key/i, is: 'wrong_key' },
    {
      status: [200, 201, 202, 400, 403, 422],
      on: ['start'],
      says: /moderat|content polic|safety|violat/i,
      is: 'content',
    },
  ],
  errorOf,
);

/** An error object, or a sentence with its code beside it. */
function errorOf(body: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(body)) return undefined;
  const { error, code } = body;
  return typeof error === 'string' ? { message: error, ...(code !== undefined && { code }) } : error;
}

/** Request body for iota-1.0-reseller. */
function mapIota({ parameters }: PlannedOrder, model: string, form: Form): JsonObject {
  const { prompt, n, size } = parameters as JsonObject & IotaRequest;
  return { model, prompt, n, aspect_ratio: size, response_format: form };
}

/** Request body for iota-1.0-edit-reseller: the shape follows the image. */
function mapIotaEdit({ parameters }: PlannedOrder, model: string, form: Form, file: FileAddress): JsonObject {
  const { prompt, n } = parameters as JsonObject & IotaEditRequest;
  return { model, prompt, n, image: { url: file('image_urls[0]'), type: 'image_url' }, response_format: form };
}

/** How images come: as links to a place of the vendor, or inside its reply. */
const FORMS = ['url', 'b64_json'] as const;
type Form = (typeof FORMS)[number];
/** An account that keeps nothing has no place for links to lead to. */
const KEEPS_NOTHING = /zero.?data.?retention|\bZDR\b/i;
const keepsNothing = ({ headers }: VendorReply): boolean =>
  String(headers['x-zero-data-retention']).toLowerCase() === 'true';

const MODEL = 'grok-imagine-image';
const EDIT = 'iota-1.0-edit-reseller';

/** Images from xAI: one long request whose response has the files, or links to them. */
export const xaiImageCodec: MediaCodec = {
  ...xaiImage('url'),
  configured: ({ settings }) => xaiImage(settings['response_format'] as Form | undefined),
  settingsMistakes: ({ response_format: form, ...others }) => [
    ...Object.keys(others).map((name) => [name, 'is not a setting of this protocol; it has response_format'] as const),
    ...(form === undefined || FORMS.some((known) => known === form)
      ? []
      : [['response_format', `must be one of ${FORMS.join(', ')}`] as const]),
  ],
};

function xaiImage(form: Form = 'url'): MediaCodec {
  return {
    protocol: 'xai-image',
    traits: callTraits(180_000),
    defaultBaseUrl: 'https://api.x.ai/v1',
    domains: ['x.ai'],
    models: new Map([
      ['iota-1.0-reseller', MODEL],
      [EDIT, MODEL],
    ]),
    marks: ['data'],
    authorization: bearer,
    referenceForm: asSent,

    writeStart: (order, { model }, file) =>
      order.model === EDIT
        ? { method: 'POST', path: '/images/edits', body: mapIotaEdit(order, model, form, file) }
        : { method: 'POST', path: '/images/generations', body: mapIota(order, model, form) },
    readStart: finished,
    readFailure: ERRORS.read,

    verification: { method: 'GET', path: '/models' },
    readCost: ({ usage }) => costIn('usd_ticks', fieldIn(usage, 'cost_in_usd_ticks')),

    otherwise: {
      isNeeded: ({ status, body, headers }) => {
        const { message = '' } = wordsOf(status, errorOf(body));
        const isAbout = keepsNothing({ status, body, headers }) && /response_format|\burls?\b/i.test(message);
        return status >= 400 && status < 500 && (KEEPS_NOTHING.test(message) || isAbout);
      },
      write: (request) => ({ ...request, body: { ...request.body, response_format: 'b64_json' } }),
    },
    readAccountNote: (reply) =>
      keepsNothing(reply) && form === 'url'
        ? 'The vendor account has zero data retention, so that images cannot come as links: set settings.response_format to b64_json.'
        : undefined,
    inlineFiles: { field: 'b64_json', count: ({ count }) => Number(count) },
  };
}

function finished({ data }: JsonObject): Started | undefined {
  if (!Array.isArray(data)) return undefined;
  const files = deliveredAt(data, (item) => outputOf(item) ?? 'result_refused');
  if (files.outputs.length > 0) return { kind: 'finished', ...files };
  const reason = data.length > 0 ? 'result_refused' : 'nothing_delivered';
  throw new MediaFailure('refused', reason, { vendor: { status: 200 } });
}

/** Undefined for an image that was withheld: it comes with status 200, and sometimes with a link to nothing. */
function outputOf(item: JsonValue): UpstreamOutput | undefined {
  if (!isJsonObject(item) || item['respect_moderation'] === false) return undefined;
  const { b64_json: kept, url = kept, mime_type: type } = item;
  if (typeof url !== 'string' || url === '') return undefined;
  return { role: 'output', contentType: typeof type === 'string' ? type : 'image/jpeg', url };
}
