import type { JsonObject, JsonValue } from '#contracts';
import type { FakeProtocol, FakeReply, FakeRequest } from './fake-vendor.js';
import { CREATED, CREDITS, refused, SUCCEEDED } from './vidu-replies.js';

/** How many images each kind of order takes (platform.vidu.com: text, image, start-end and reference to video). */
const IMAGES: Readonly<Record<string, readonly [least: number, most: number]>> = {
  text2video: [0, 0],
  img2video: [1, 1],
  'start-end2video': [2, 2],
  reference2video: [1, 7],
};
const FRAME_MODELS = new Set(['viduq3-pro', 'viduq3-turbo']);
const REFERENCE_MODELS = new Set(['viduq3', 'viduq3-mix']);
/** Every field that those pages name for Q3. */
const FIELDS = new Set([
  'model',
  'prompt',
  'images',
  'duration',
  'seed',
  'resolution',
  'aspect_ratio',
  'audio',
  'payload',
  'off_peak',
  'watermark',
  'wm_position',
  'wm_url',
  'meta_data',
  'callback_url',
]);
const RESOLUTIONS = new Set(['540p', '720p', '1080p']);
const RATIOS = new Set(['16:9', '9:16', '4:3', '3:4', '1:1']);
const ID = '89012345678901';

/** Vidu's API: takes orders, and says of each what its script says. */
export class FakeVidu implements FakeProtocol {
  readonly basePath = '';
  readonly key = 'vda_test_key_0123456789';
  readonly keyHeader = { name: 'authorization', value: `Token ${this.key}` };
  readonly unauthorized = viduRefusal(401, 'Unauthorized', `The key ${this.key} is wrong`);
  readonly taken: JsonObject[] = [];
  /** What a taken order says of itself beside what it always says. */
  state: JsonObject = {};
  credits: JsonObject = CREDITS;

  reset(): void {
    this.state = {};
    this.credits = CREDITS;
  }

  answer({ method, path, body }: FakeRequest): FakeReply {
    if (path.startsWith('/ent/v2/credits')) return { body: this.credits };
    const kind = path.replace('/ent/v2/', '');
    if (method === 'POST' && kind in IMAGES) return this.take(kind, body);
    const [, id, question] = /^\/ent\/v2\/tasks\/(\d+)\/(creations|cancel)$/.exec(path) ?? [];
    const order = id?.startsWith(ID) ? this.taken[Number(id.slice(ID.length)) - 1] : undefined;
    if (!order) return viduRefusal(404, 'TaskNotFound');
    return question === 'creations' ? this.creationsOf(order) : this.cancel(body['id'] === id);
  }

  private creationsOf({ payload = '' }: JsonObject): FakeReply {
    return { body: { ...SUCCEEDED, payload, ...this.state } };
  }

  /** Only what still waits is stopped. */
  private cancel(isNamed: boolean): FakeReply {
    const waits = isNamed && this.state['state'] === 'queueing';
    return waits ? { body: {} } : viduRefusal(400, 'BadRequest', 'The task was scheduled');
  }

  private take(kind: string, order: JsonObject): FakeReply {
    const problem = problemOf(kind, order);
    if (problem) return viduRefusal(400, 'FieldInvalid', problem);
    return { body: { ...CREATED, ...order, task_id: `${ID}${this.taken.push(order)}` } };
  }
}

export const viduRefusal = (status: number, reason: string, message?: string): FakeReply => ({
  status,
  body: refused(status, reason, message),
});

type Rule = (value: JsonValue | undefined, order: JsonObject, kind: string) => boolean;

const isReference = (kind: string): boolean => kind === 'reference2video';
const isImage = (image: JsonValue): boolean =>
  typeof image === 'string' && /^(?:https?:|data:image\/(?:jpeg|jpg|png|webp);base64,)/.test(image);
const within = (value: JsonValue, least: number, most: number): boolean =>
  typeof value === 'number' && value >= least && value <= most;
const oneOf = (values: ReadonlySet<string>, value: JsonValue | undefined): boolean =>
  typeof value === 'string' && values.has(value);

/** What each field may be, in view of the others. */
const RULES: Readonly<Record<string, Rule>> = {
  model: (model, _, kind) => oneOf(isReference(kind) ? REFERENCE_MODELS : FRAME_MODELS, model),
  prompt: (prompt = '', { images }, kind) =>
    typeof prompt === 'string' &&
    prompt.length <= 5_000 &&
    (prompt !== '' || (images !== undefined && !isReference(kind))),
  images: (images = [], _, kind) => {
    const [least, most] = IMAGES[kind] ?? [0, 0];
    return Array.isArray(images) && within(images.length, least, most) && images.every(isImage);
  },
  aspect_ratio: (ratio, _, kind) =>
    ratio === undefined || (oneOf(RATIOS, ratio) && (kind === 'text2video' || isReference(kind))),
  duration: (seconds = 5, { model }) => within(seconds, model === 'viduq3' ? 3 : 1, 16),
  resolution: (resolution = '720p', { model }) =>
    oneOf(RESOLUTIONS, resolution) && (resolution !== '540p' || model !== 'viduq3-mix'),
  seed: (seed = 1) => within(seed, 0, 2_147_483_647),
  audio: (audio = true) => typeof audio === 'boolean',
};

function problemOf(kind: string, order: JsonObject): string | undefined {
  const unknown = Object.keys(order).find((name) => !FIELDS.has(name));
  return unknown ?? Object.keys(RULES).find((name) => RULES[name]?.(order[name], order, kind) === false);
}
