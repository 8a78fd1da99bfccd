import type { JsonObject, JsonValue } from '#contracts';
import { arkRefusal } from './fake-ark-video.js';
import type { FakeProtocol, FakeReply, FakeRequest } from './fake-vendor.js';

/** Every field that Ark's reference lists for Seedream 4.0; seed and guidance_scale are not among them. */
const FIELDS = new Set([
  'model',
  'prompt',
  'image',
  'size',
  'sequential_image_generation',
  'sequential_image_generation_options',
  'stream',
  'response_format',
  'watermark',
  'optimize_prompt_options',
]);
const MIN_PIXELS = 921_600;
const MAX_PIXELS = 16_777_216;

/** Ark's image API: answers the images, or what its script says. */
export class FakeArkImage implements FakeProtocol {
  readonly basePath = '/api/v3';
  readonly key = 'ark-test-key-0123456789';
  readonly keyHeader = { name: 'authorization', value: `Bearer ${this.key}` };
  readonly unauthorized = arkRefusal(401, 'AuthenticationError', 'The API key is wrong');
  readonly taken: JsonObject[] = [];
  /** What is in `data` instead of what was ordered. */
  data: readonly JsonValue[] | undefined;

  reset(): void {
    this.data = undefined;
  }

  answer({ method, path, body }: FakeRequest): FakeReply {
    if (method === 'GET') return { body: { items: [], total: 0 } };
    if (path !== '/images/generations') return arkRefusal(404, 'NotFound');
    const problem = problemOf(body);
    if (problem) return arkRefusal(400, 'InvalidParameter', problem);
    this.taken.push(body);
    const data = this.data ?? images(body);
    return {
      body: { model: body['model'] ?? '', created: 1_800_000_000, data, usage: { generated_images: data.length } },
    };
  }
}

function images(order: JsonObject): JsonValue[] {
  const options = order['sequential_image_generation_options'] as { max_images?: number } | undefined;
  const count = order['sequential_image_generation'] === 'auto' ? (options?.max_images ?? 15) : 1;
  return Array.from({ length: count }, (_, index) =>
    order['response_format'] === 'b64_json'
      ? { b64_json: 'ZmlsZQ==', size: '2048x2048' }
      : { url: `https://ark-content.example.com/${index}.jpeg?sign=1`, size: '2048x2048' },
  );
}

function problemOf(order: JsonObject): string | undefined {
  const unknown = Object.keys(order).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) return `${unknown} is not valid for this model`;
  const { prompt, size, optimize_prompt_options: optimisation, image } = order;
  if (typeof prompt !== 'string' || prompt === '') return 'prompt is missing';
  if (size !== undefined && !isSize(size)) return 'size is not valid';
  if (Array.isArray(image) && image.length > 14) return 'too many images';
  const known = optimisation === undefined || OPTIMISATIONS.has(JSON.stringify(optimisation));
  return known ? undefined : 'optimize_prompt_options is not valid';
}

const OPTIMISATIONS = new Set(['{"mode":"standard"}', '{"mode":"fast"}']);

/** A token, or sides within the bounds of the model. */
function isSize(size: JsonValue): boolean {
  if (typeof size !== 'string') return false;
  const [, width, height] = /^(\d+)x(\d+)$/.exec(size) ?? [];
  if (width === undefined) return ['1K', '2K', '4K'].includes(size);
  const pixels = Number(width) * Number(height);
  return pixels >= MIN_PIXELS && pixels <= MAX_PIXELS;
}
