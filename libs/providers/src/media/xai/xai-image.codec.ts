import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MEDIA_REASONS,
  MediaFailure,
  type ProviderOutput,
  type Started,
  type UndeliveredOutput,
  type VendorCost,
} from '#contracts';
import type { MediaCodec } from '../http/media-codec.js';
import { costIn } from '../http/stated-cost.js';
import { mapIota, mapIotaEdit } from './map-iota.js';
import { readXaiFailure } from './xai-failures.js';

const MODEL = 'grok-imagine-image';
const EDIT = 'iota-1.0-edit-reseller';

/** Images of xAI: one long request that answers the files (vendors.md 11). */
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
