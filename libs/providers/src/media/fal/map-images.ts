import type {
  EtaRequest,
  IotaEditRequest,
  IotaRequest,
  JsonObject,
  KappaRequest,
  PlannedOrder,
  ThetaRequest,
} from '#contracts';
import { present, referencesOf, refuseIf } from '../http/mapping.js';
import type { FalMapping } from './fal-mapping.js';

const MAX_ETA_REFERENCES = 3;
const MAX_IOTA_IMAGES = 4;

/** Pixels of an order whose family fixes them. */
function pixelsOf({ output }: PlannedOrder): JsonObject | undefined {
  return output.size.kind === 'fixed' ? { width: output.size.width, height: output.size.height } : undefined;
}

/** Qwen-Image 2.0 at fal. */
export const mapEta: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & EtaRequest;
  const images = referencesOf(order, 'image', file);
  refuseIf(
    (images?.length ?? 0) > MAX_ETA_REFERENCES,
    'image_urls',
    `image_urls holds at most ${MAX_ETA_REFERENCES} images here.`,
  );
  const input = {
    prompt: asked.prompt,
    negative_prompt: asked.negative_prompt,
    image_size: pixelsOf(order),
    num_images: asked.n,
    image_urls: images,
  };
  return { endpoint: images === undefined ? 'text-to-image' : 'edit', input: present(input) };
};

/** Z-Image turbo at fal. */
export const mapTheta: FalMapping = (order) => {
  const asked = order.parameters as JsonObject & ThetaRequest;
  const input = {
    prompt: asked.prompt,
    image_size: pixelsOf(order),
    enable_prompt_expansion: asked.prompt_extend,
    num_images: 1,
  };
  return { input: present(input) };
};

/** Seedream 4.0 at fal. */
export const mapKappa: FalMapping = (order, file) => {
  const asked = order.parameters as JsonObject & KappaRequest;
  const images = referencesOf(order, 'image', file);
  refuseIf(asked.watermark, 'watermark', 'watermark must be false: no watermark is made here.');
  refuseIf(asked.size === 'auto' && asked.resolution === '1K', 'size', 'size auto needs resolution 2K or 4K here.');
  const several = images !== undefined && asked.sequential_image_generation === 'auto';
  const input = {
    prompt: asked.prompt,
    image_size: pixelsOf(order) ?? `auto_${asked.resolution}`,
    num_images: 1,
    max_images: several ? order.output.count : undefined,
    enhance_prompt_mode: asked.optimize_prompt_options,
    image_urls: images,
  };
  return { endpoint: images === undefined ? 'text-to-image' : 'edit', input: present(input) };
};

const refuseMoreOfIota = (n: number): void =>
  refuseIf(n > MAX_IOTA_IMAGES, 'n', `n is at most ${MAX_IOTA_IMAGES} here.`);

/** Grok Imagine at fal. */
export const mapIota: FalMapping = (order) => {
  const { prompt, size, n } = order.parameters as JsonObject & IotaRequest;
  refuseMoreOfIota(n);
  return { input: { prompt, aspect_ratio: size, num_images: n } };
};

/** Grok Imagine with an image at fal: the shape follows the image. */
export const mapIotaEdit: FalMapping = (order, file) => {
  const { prompt, n } = order.parameters as JsonObject & IotaEditRequest;
  refuseMoreOfIota(n);
  return { endpoint: 'edit', input: { prompt, num_images: n, image_urls: [file('image_urls[0]')] } };
};
