import type { JsonObject, JsonValue } from '#contracts';
import { type FalInputs, falInputs, inputsIn } from './fal-inputs.js';
import type { FakeProtocol, FakeReply, FakeRequest } from './fake-vendor.js';

/** Seedance 2.0 by its page at fal (bytedance/seedance-2.0/text-to-video, image-to-video, reference-to-video). */
const SEEDANCE = `
  prompt: string;
  resolution?: "480p" | "720p" | "1080p";
  duration?: "auto" | "4" | "5" | "6" | "7" | "8" | "9" | "10" | "11" | "12" | "13" | "14" | "15";
  aspect_ratio?: "auto" | "21:9" | "16:9" | "4:3" | "1:1" | "3:4" | "9:16";
  generate_audio?: boolean;
  seed?: number;
  end_user_id?: string;`;

/** Endpoints that the client's types lack, or have wrong: it gives Wan 2.5 from a text the fields of Wan 2.7. */
const FROM_PAGES: Readonly<Record<string, FalInputs>> = {
  'bytedance/seedance-2.0/text-to-video': inputsIn(SEEDANCE),
  'bytedance/seedance-2.0/image-to-video': inputsIn(`${SEEDANCE}
  image_url: string;
  end_image_url?: string;`),
  'bytedance/seedance-2.0/reference-to-video': inputsIn(`${SEEDANCE}
  image_urls?: Array<string>;
  video_urls?: Array<string>;
  audio_urls?: Array<string>;`),
  'fal-ai/wan-25-preview/text-to-video': inputsIn(`
  prompt: string;
  audio_url?: string;
  aspect_ratio?: "16:9" | "9:16" | "1:1";
  resolution?: "480p" | "720p" | "1080p";
  duration?: "5" | "10";
  negative_prompt?: string;
  enable_prompt_expansion?: boolean;
  enable_safety_checker?: boolean;
  seed?: number;`),
};

/**
 * Fields that changed after the client of the registry (1.10.1 of May 2026) was written, by the types of fal-js of 2026-08-02 (commit
 * 381105e) and fal's own pages.
 */
const SINCE: readonly (readonly [endpoints: RegExp, fields: FalInputs])[] = [
  [/^fal-ai\/wan\/v2\.7\/(?:text|image)-to-video$/, inputsIn(`duration?: ${numbers(2, 15)};`)],
  [/^fal-ai\/wan\/v2\.7\/reference-to-video$/, inputsIn(`duration?: ${numbers(2, 10)};`)],
  [/^xai\/grok-imagine-image/, inputsIn(`num_images?: ${numbers(1, 4)};`)],
  [
    /^xai\/grok-imagine-image$/,
    inputsIn('aspect_ratio?: "2:1" | "16:9" | "4:3" | "3:2" | "1:1" | "2:3" | "3:4" | "9:16" | "1:2";'),
  ],
  [/^fal-ai\/veo3\.1(?:\/fast)?(?:\/image-to-video)?$/, inputsIn('resolution?: "720p" | "1080p" | "4k";')],
];

/** A choice of whole numbers, as a type. */
function numbers(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index).join(' | ');
}

function inputsOf(endpoint: string): FalInputs | undefined {
  const inputs = FROM_PAGES[endpoint.replace('seedance-2.0/fast/', 'seedance-2.0/')] ?? falInputs(endpoint);
  const since = SINCE.flatMap(([endpoints, fields]) => (endpoints.test(endpoint) ? [...fields] : []));
  return inputs && new Map([...inputs, ...since]);
}

const ID = '019a0000-0000-7000-8000-';
const REQUEST = new RegExp(`^/.+/requests/${ID}(\\d{12})(/status|/cancel)?$`);

/** fal's queue: takes orders, and says of each what its script says. */
export class FakeFal implements FakeProtocol {
  readonly basePath = '';
  readonly key = 'fal-test-id:0123456789abcdef';
  readonly keyHeader = { name: 'authorization', value: `Key ${this.key}` };
  readonly unauthorized = falRefusal(401, `Cannot access application, ${this.key} is not a key.`);
  readonly taken: JsonObject[] = [];
  /** Endpoints of the orders, in their order. */
  readonly endpoints: string[] = [];
  /** The word for the state of a taken order. */
  status = 'COMPLETED';
  /** What comes of a taken order instead of what was ordered. */
  result: FakeReply | undefined;

  reset(): void {
    this.status = 'COMPLETED';
    this.result = undefined;
  }

  answer({ method, path, headers, body }: FakeRequest): FakeReply {
    if (method === 'POST') return this.take(path.slice(1), body, `http://${headers.host ?? 'queue.fal.run'}`);
    const [, number, question] = REQUEST.exec(path) ?? [];
    const order = this.taken[Number(number) - 1];
    if (!order) return falRefusal(404, 'Request not found');
    if (question === '/cancel')
      return this.status === 'COMPLETED'
        ? { status: 400, body: { status: 'ALREADY_COMPLETED' } }
        : { status: 202, body: { status: 'CANCELLATION_REQUESTED' } };
    if (question === '/status')
      return { status: this.status === 'COMPLETED' ? 200 : 202, body: { status: this.status, logs: [], metrics: {} } };
    return this.result ?? { body: made(this.endpoints[Number(number) - 1] ?? '', order) };
  }

  private take(endpoint: string, order: JsonObject, origin: string): FakeReply {
    const problem = problemOf(endpoint, order);
    if (problem) return problem;
    this.endpoints.push(endpoint);
    const id = ID + String(this.taken.push(order)).padStart(12, '0');
    const [owner, alias] = endpoint.split('/');
    const address = `${origin}/${owner}/${alias}/requests/${id}`;
    return {
      body: {
        status: 'IN_QUEUE',
        request_id: id,
        response_url: address,
        status_url: `${address}/status`,
        cancel_url: `${address}/cancel`,
        queue_position: 0,
      },
    };
  }
}

/** A refusal of the queue (fal.ai/docs, request errors). */
export const falRefusal = (status: number, sentence: string, type?: string): FakeReply => ({
  status,
  body: { detail: sentence, ...(type !== undefined && { error_type: type }) },
});

/** An error of a model (fal.ai/docs, model errors). */
export const falModelError = (status: number, type: string, message = 'The words of fal'): FakeReply => ({
  status,
  body: { detail: [{ loc: ['body', 'prompt'], msg: message, type, url: `https://docs.fal.ai/errors#${type}` }] },
});

function problemOf(endpoint: string, order: JsonObject): FakeReply | undefined {
  const inputs = inputsOf(endpoint);
  if (!inputs) return falRefusal(404, `Application ${endpoint} not found`);
  for (const [name, value] of Object.entries(order)) {
    const input = inputs.get(name);
    if (!input) return falModelError(422, 'extra_forbidden', `${endpoint} has no field ${name}`);
    if (!input.allows(value) || !isLinked(name, value))
      return falModelError(422, 'one_of', `${endpoint}: ${name} ${JSON.stringify(value)}`);
  }
  const missing = [...inputs].find(([name, { required }]) => required && order[name] === undefined);
  return missing && falModelError(422, 'missing', `${endpoint}: ${missing[0]} is missing`);
}

/** Videos and sounds are fetched by fal; images may come inline. */
const isLinked = (name: string, value: JsonValue): boolean =>
  !/^(?:.+_)?(?:video|audio)_urls?$/.test(name) ||
  [value].flat().every((url) => typeof url === 'string' && /^https?:/.test(url));

function made(endpoint: string, order: JsonObject): JsonObject {
  if (endpoint.includes('video') || endpoint.includes('veo'))
    return { video: { url: 'https://v3.fal.media/files/video.mp4', content_type: 'video/mp4', file_size: 1 } };
  const count = Number(order['max_images'] ?? 1) * Number(order['num_images'] ?? 1);
  const images = Array.from({ length: count }, (_, index) => ({
    url: `https://v3.fal.media/files/${index}.png`,
    content_type: 'image/png',
  }));
  return { images, seed: 1 };
}
