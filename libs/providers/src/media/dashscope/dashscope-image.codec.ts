import {
  type EtaRequest,
  type JsonObject,
  type JsonValue,
  MediaFailure,
  type MediaOrder,
  type PlannedOrder,
  type Started,
  type ThetaRequest,
  type UpstreamOutput,
} from '#contracts';
import { asSent, callTraits, fieldIn, type FileAddress, deliveredInRow, type MediaCodec } from '../http/media-codec.js';
import { costIn } from '../http/failure-rules.js';
import { DASHSCOPE, DASHSCOPE_ERRORS } from './dashscope.js';

/** Request body for the eta family: Qwen-Image 2.0. */
function mapEta(order: PlannedOrder, model: string, file: FileAddress): JsonObject {
  const asked = order.parameters as JsonObject & EtaRequest;
  const { references } = order;
  return {
    model,
    input: message(
      asked.prompt,
      references.map(({ param }) => file(param)),
    ),
    parameters: {
      size: sizeOf(order),
      n: asked.n,
      ...(asked.negative_prompt !== undefined && { negative_prompt: asked.negative_prompt }),
      // The family does not offer it. Said, so that a change of the vendor's default changes nothing of what is sold.
      prompt_extend: true,
      watermark: false,
    },
  };
}

/** Request body for theta-image-turbo: Z-Image turbo, which makes one image per request. */
function mapTheta(order: PlannedOrder, model: string): JsonObject {
  const { prompt, prompt_extend: extended } = order.parameters as JsonObject & ThetaRequest;
  return { model, input: message(prompt, []), parameters: { size: sizeOf(order), prompt_extend: extended } };
}

const message = (text: string, images: readonly string[]): JsonObject => ({
  messages: [{ role: 'user', content: [...images.map((image) => ({ image })), { text }] }],
});

function sizeOf({ output: { size } }: PlannedOrder): string {
  if (size.kind !== 'fixed') throw new RangeError('images of these families have fixed sizes');
  return `${size.width}*${size.height}`;
}

const GENERATION = '/api/v1/services/aigc/multimodal-generation/generation';

/** Images from Alibaba Cloud Model Studio: one long request whose response has the files. */
export const dashscopeImageCodec: MediaCodec = {
  protocol: 'dashscope-image',
  traits: callTraits(300_000),
  defaultBaseUrl: DASHSCOPE.defaultBaseUrl,
  domains: DASHSCOPE.domains,
  models: new Map([
    ['eta-image-2.0', 'qwen-image-2.0'],
    ['eta-image-2.0-pro', 'qwen-image-2.0-pro'],
    ['theta-image-turbo', 'z-image-turbo'],
  ]),
  marks: ['output'],
  authorization: DASHSCOPE.authorization,
  referenceForm: asSent,

  writeStart: (order, { model }, file) => ({
    method: 'POST',
    path: GENERATION,
    body: order.family === 'theta' ? mapTheta(order, model) : mapEta(order, model, file),
  }),
  readStart: finished,
  readFailure: DASHSCOPE_ERRORS.read,

  verification: DASHSCOPE.verification,
  readCost: ({ usage }) => costIn('images', fieldIn(usage, 'image_count')),
};

function finished(body: JsonObject, order: MediaOrder): Started | undefined {
  const { output, code } = body;
  // An error may come with status 200.
  if (typeof code === 'string' && code !== '') throw DASHSCOPE_ERRORS.inside(body, 'start');
  const choices = fieldIn(output, 'choices');
  if (!Array.isArray(choices)) return undefined;
  const outputs = choices.flatMap(imagesIn);
  if (outputs.length === 0) throw new MediaFailure('refused', 'nothing_delivered', { vendor: { status: 200 } });
  return { kind: 'finished', ...deliveredInRow(outputs, order.output.count, 'nothing_delivered') };
}

/** Several images come as several choices, or as several parts of one. */
function imagesIn(choice: JsonValue): UpstreamOutput[] {
  const content = fieldIn(fieldIn(choice, 'message'), 'content');
  return (Array.isArray(content) ? content : []).flatMap((part) => {
    const url = fieldIn(part, 'image');
    return typeof url === 'string' && url !== '' ? [{ role: 'output' as const, contentType: 'image/png', url }] : [];
  });
}
