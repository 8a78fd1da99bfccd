import type { JsonObject, JsonValue } from '#contracts';
import type { FakeProtocol, FakeReply, FakeRequest } from './fake-vendor.js';

/** Every field that the pages of Hailuo name (platform.minimax.io: text, image, and first and last frame to video). */
const FIELDS = new Set([
  'model',
  'prompt',
  'prompt_optimizer',
  'fast_pretreatment',
  'duration',
  'resolution',
  'callback_url',
  'aigc_watermark',
  'first_frame_image',
  'last_frame_image',
]);
const MODELS = new Set(['MiniMax-Hailuo-2.3', 'MiniMax-Hailuo-2.3-Fast', 'MiniMax-Hailuo-02']);
/** Ids have 18 digits; the last three count orders. */
const ID = '401047179385389';

/** MiniMax' video API: takes orders, and says of each what its script says. Refusals come with status 200. */
export class FakeMinimax implements FakeProtocol {
  readonly basePath = '';
  readonly key = 'minimax-test-key-0123456789';
  readonly keyHeader = { name: 'authorization', value: `Bearer ${this.key}` };
  readonly unauthorized = minimaxRefusal(1004, `login fail: ${this.key} is no key`);
  readonly taken: JsonObject[] = [];
  /** What a taken order says of itself beside what it always says. */
  state: JsonObject = {};
  /** What the question for its file is answered with. */
  file: FakeReply | undefined;

  reset(): void {
    this.state = {};
    this.file = undefined;
  }

  answer({ method, path, query, body }: FakeRequest): FakeReply {
    if (method === 'POST' && path === '/v1/video_generation') return this.take(body);
    if (path === '/v1/query/video_generation') return this.stateOf(query.get('task_id') ?? '');
    if (path === '/v1/files/retrieve') return this.file ?? link(query.get('file_id') ?? '');
    return { status: 404, body: '404 page not found' };
  }

  private take(order: JsonObject): FakeReply {
    const problem = problemOf(order);
    if (problem) return minimaxRefusal(2013, `invalid params, ${problem}`);
    return { body: { task_id: ID + String(this.taken.push(order)).padStart(3, '0'), ...FINE } };
  }

  private stateOf(id: string): FakeReply {
    const number = Number(id.startsWith(ID) ? id.slice(ID.length) : 0);
    if (!this.taken[number - 1]) return minimaxRefusal(2013, 'invalid params, task_id');
    const finished = { task_id: id, status: 'Success', file_id: `2052585263${number}`, ...FINE };
    return { body: { ...finished, video_width: 1366, video_height: 768, ...this.state } };
  }
}

const FINE = { base_resp: { status_code: 0, status_msg: 'success' } };

const link = (id: string): FakeReply => ({
  body: {
    file: {
      file_id: Number(id),
      bytes: 5_896_337,
      created_at: 1_800_000_000,
      filename: 'output_aigc.mp4',
      purpose: 'video_generation',
      download_url: 'https://public-cdn-video.example.com/output_aigc.mp4?Signature=1',
    },
    ...FINE,
  },
});

/** The envelope of every refusal. */
export const minimaxRefusal = (code: number, sentence = 'no words'): FakeReply => ({
  body: { base_resp: { status_code: code, status_msg: sentence } },
});

type Rule = (value: JsonValue | undefined, order: JsonObject) => boolean;

const isImage: Rule = (frame) =>
  frame === undefined ||
  (typeof frame === 'string' && /^(?:https?:|data:image\/(?:jpeg|png|webp);base64,)/.test(frame));
const isOfHailuo02: Rule = (_, order) =>
  order['model'] === 'MiniMax-Hailuo-02' && order['first_frame_image'] !== undefined;

/** What each field may be, in view of the others. */
const RULES: Readonly<Record<string, Rule>> = {
  model: (model) => typeof model === 'string' && MODELS.has(model),
  prompt: (prompt = '') => typeof prompt === 'string' && prompt.length <= 2_000,
  duration: (seconds = 6, { resolution }) => seconds === 6 || (seconds === 10 && resolution !== '1080P'),
  resolution: (resolution = '768P', order) =>
    resolution === '512P'
      ? isOfHailuo02(resolution, order) && order['last_frame_image'] === undefined
      : resolution === '768P' || resolution === '1080P',
  first_frame_image: (first, order) =>
    isImage(first, order) && (first !== undefined || order['model'] !== 'MiniMax-Hailuo-2.3-Fast'),
  last_frame_image: (last, order) => last === undefined || (isImage(last, order) && isOfHailuo02(last, order)),
  fast_pretreatment: (fast, order) => fast === undefined || order['last_frame_image'] === undefined,
};

function problemOf(order: JsonObject): string | undefined {
  const unknown = Object.keys(order).find((name) => !FIELDS.has(name));
  return unknown ?? Object.keys(RULES).find((name) => RULES[name]?.(order[name], order) === false);
}
