import {
  type JsonObject,
  type JsonValue,
  type KappaRequest,
  MediaFailure,
  type PlannedOrder,
  type Started,
} from '#contracts';
import {
  asSent,
  bearer,
  callTraits,
  fieldIn,
  type FileAddress,
  deliveredAt,
  type MediaCodec,
} from '../http/media-codec.js';
import { costIn, wordsOf } from '../http/failure-rules.js';
import { ARK_ERRORS } from './ark-failures.js';

/** Request body for the kappa family: Seedream 4.0. */
function mapKappa(order: PlannedOrder, model: string, file: FileAddress): JsonObject {
  const asked = order.parameters as JsonObject & KappaRequest;
  const { output, references } = order;
  const images = references.map(({ param }) => file(param));
  // The vendor makes several from a text alone too; the family sells one.
  const sequence = images.length > 0 ? asked.sequential_image_generation : 'disabled';
  return {
    model,
    prompt: asked.prompt,
    // A token leaves the shape to the model, which takes it from the image.
    size: output.size.kind === 'fixed' ? `${output.size.width}x${output.size.height}` : asked.resolution,
    ...(images.length > 0 && { image: images }),
    sequential_image_generation: sequence,
    // The vendor's own default is 15.
    ...(sequence === 'auto' && { sequential_image_generation_options: { max_images: output.count } }),
    optimize_prompt_options: { mode: asked.optimize_prompt_options },
    // The vendor's own default is true.
    watermark: asked.watermark,
    response_format: 'url',
  };
}

const MODEL = 'seedream-4-0-250828';
const LINK_LIFE_MS = 24 * 60 * 60_000;

/** Images from Volcengine Ark and BytePlus ModelArk: one long request whose response has the files. */
export const arkImageCodec: MediaCodec = {
  protocol: 'ark-image',
  traits: callTraits(300_000),
  defaultBaseUrl: 'https://ark.ap-southeast.bytepluses.com/api/v3',
  domains: ['bytepluses.com', 'volces.com'],
  models: new Map(['kappa-a-4-0', 'kappa-b-4.0', 'kappa-b-4-0', 'Kappa-B-4.0'].map((model) => [model, MODEL])),
  marks: ['data'],
  authorization: bearer,
  referenceForm: asSent,

  writeStart: (order, ticket, file) => ({
    method: 'POST',
    path: '/images/generations',
    body: mapKappa(order, ticket.model, file),
  }),
  readStart: finished,
  readFailure: ARK_ERRORS.read,

  // The list of videos proves the key as well, and costs nothing.
  verification: { method: 'GET', path: '/contents/generations/tasks?page_num=1&page_size=1' },
  readCost: ({ usage }) => costIn('images', fieldIn(usage, 'generated_images')),
};

function finished({ data, created, error }: JsonObject): Started | undefined {
  if (!Array.isArray(data)) return undefined;
  const life = typeof created === 'number' ? { expiresAtMs: created * 1_000 + LINK_LIFE_MS } : {};
  const files = deliveredAt(data, (item) => {
    const url = fieldIn(item, 'url');
    return typeof url === 'string'
      ? { role: 'output', contentType: 'image/jpeg', url, ...life }
      : ARK_ERRORS.ofWork(fieldIn(item, 'error'));
  });
  if (files.outputs.length === 0) throw nothingDelivered(fieldIn(data[0], 'error') ?? error ?? undefined);
  return { kind: 'finished', ...files };
}

/** @param error of the first image, or of the group as a whole. */
function nothingDelivered(error: JsonValue | undefined): MediaFailure {
  const reason = error === undefined ? 'nothing_delivered' : ARK_ERRORS.ofWork(error);
  return new MediaFailure('refused', reason, { vendor: wordsOf(200, error) });
}
