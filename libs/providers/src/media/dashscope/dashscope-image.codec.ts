import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MEDIA_REASONS,
  MediaFailure,
  type MediaOrder,
  type ProviderOutput,
  type Started,
  type VendorCost,
} from '#contracts';
import type { MediaCodec } from '../http/media-codec.js';
import { costIn } from '../http/stated-cost.js';
import { DASHSCOPE } from './dashscope.js';
import { readDashscopeFailure } from './dashscope-failures.js';
import { mapEta, mapTheta } from './map-images.js';

const GENERATION = '/api/v1/services/aigc/multimodal-generation/generation';

/** Images of Alibaba Cloud Model Studio: one long request that answers the files (vendors.md 6). */
export const dashscopeImageCodec: MediaCodec = {
  protocol: 'dashscope-image',
  traits: {
    style: 'call',
    repeatStart: 'unknown',
    startTimeoutMs: 300_000,
    findableAfterMs: 0,
    firstCheckMs: 0,
    checkEveryMs: 0,
    checkTimeoutMs: 10_000,
  },
  defaultBaseUrl: DASHSCOPE.defaultBaseUrl,
  domains: DASHSCOPE.domains,
  models: new Map([
    ['eta-image-2.0', 'qwen-image-2.0'],
    ['eta-image-2.0-pro', 'qwen-image-2.0-pro'],
    ['theta-image-turbo', 'z-image-turbo'],
  ]),
  authorization: DASHSCOPE.authorization,
  referenceForm: (_, way) => way ?? 'sent',

  writeStart: (order, { model }, file) => ({
    method: 'POST',
    path: GENERATION,
    body: order.family === 'theta' ? mapTheta(order, model) : mapEta(order, model, file),
  }),
  readStart: finished,
  readFailure: readDashscopeFailure,

  verification: DASHSCOPE.verification,
  readCost: costOf,
};

function finished(body: JsonObject, order: MediaOrder): Started | undefined {
  const { output, code } = body;
  // An error may come with status 200.
  if (typeof code === 'string' && code !== '') throw readDashscopeFailure({ status: 200, headers: {}, body }, 'start');
  const choices = isJsonObject(output) ? output['choices'] : undefined;
  if (!Array.isArray(choices)) return undefined;
  const outputs = choices.flatMap(imagesIn);
  if (outputs.length === 0) throw new MediaFailure('refused', 'nothing_delivered', { vendor: { status: 200 } });
  const missing = Array.from({ length: Math.max(0, order.output.count - outputs.length) }, (_, index) => ({
    ordinal: outputs.length + index,
    ...MEDIA_REASONS.nothing_delivered,
  }));
  return { kind: 'finished', outputs, ...(missing.length > 0 && { missing }) };
}

/** Several images come as several choices, or as several parts of one. */
function imagesIn(choice: JsonValue): ProviderOutput[] {
  const message = isJsonObject(choice) ? choice['message'] : undefined;
  const content = isJsonObject(message) ? message['content'] : undefined;
  return (Array.isArray(content) ? content : []).flatMap((part) => {
    const url = isJsonObject(part) ? part['image'] : undefined;
    return typeof url === 'string' && url !== '' ? [{ role: 'output' as const, contentType: 'image/png', url }] : [];
  });
}

function costOf({ usage }: JsonObject): VendorCost | undefined {
  return costIn('images', isJsonObject(usage) ? usage['image_count'] : undefined);
}
