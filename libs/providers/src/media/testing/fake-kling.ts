import { createHmac } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import type { FakeProtocol, FakeReply, FakeRequest } from './fake-vendor.js';

const PATHS = ['/v1/videos/text2video', '/v1/videos/image2video'];

/** Every field of a v2.6 request, by Kling's reference. */
const COMMON = [
  'model_name',
  'prompt',
  'negative_prompt',
  'mode',
  'duration',
  'sound',
  'watermark_info',
  'callback_url',
  'external_task_id',
];
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  '/v1/videos/text2video': [...COMMON, 'aspect_ratio'],
  '/v1/videos/image2video': [...COMMON, 'image', 'image_tail'],
};

/** Kling's video API: takes orders, and says of each what its script says. */
export class FakeKling implements FakeProtocol {
  readonly basePath = '';
  readonly key = 'kling-test-key-0123456789';
  /** What signs tokens, where the key is not sent as it is. */
  readonly accessKey = 'kling-access';
  readonly secretKey = 'kling-secret-0123456789-0123456789';
  readonly keyHeader = { name: 'authorization', value: `Bearer ${this.key}` };
  readonly unauthorized = klingRefusal(401, 1002, 'authorization is invalid');
  readonly taken: JsonObject[] = [];
  /** What a taken task says of itself; that it is done unless changed. */
  data: JsonObject = {};

  reset(): void {
    this.data = {};
  }

  /** The key itself, or a token that is signed for now. */
  authenticate({ headers }: FakeRequest, nowMs: number): FakeReply | undefined {
    if (headers.authorization === this.keyHeader.value) return undefined;
    const [head = '', claims = '', signature] = (headers.authorization ?? '').replace(/^Bearer /, '').split('.');
    const expected = createHmac('sha256', this.secretKey).update(`${head}.${claims}`).digest('base64url');
    if (signature !== expected) return this.unauthorized;
    const { iss, exp, nbf } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as JsonObject;
    if (iss !== this.accessKey) return this.unauthorized;
    if (Number(nbf) * 1_000 > nowMs) return klingRefusal(401, 1003, 'authorization is not active yet');
    return Number(exp) * 1_000 < nowMs ? klingRefusal(401, 1004, 'authorization has expired') : undefined;
  }

  answer({ method, path, body }: FakeRequest): FakeReply {
    const base = PATHS.find((known) => path === known || path.startsWith(`${known}/`));
    if (base === undefined) return klingRefusal(404, 1202, 'no such method');
    if (method === 'POST') return this.take(base, body);
    if (path === base) return said([]);
    const id = decodeURIComponent(path.slice(base.length + 1));
    const number = this.taken.findIndex((order, index) => [idOf(index), order['external_task_id']].includes(id));
    const order = this.taken[number];
    if (!order || order['path'] !== base) return klingRefusal(404, 1203, 'the task does not exist');
    return said({ ...finished(idOf(number), order), ...this.data });
  }

  private take(path: string, order: JsonObject): FakeReply {
    const problem = problemOf(path, order);
    if (problem) return klingRefusal(400, 1201, problem);
    this.taken.push({ ...order, path });
    return said({ task_id: idOf(this.taken.length - 1), task_status: 'submitted', created_at: 1_800_000_000_000 });
  }
}

/** The envelope of every refusal. */
export const klingRefusal = (status: number, code: number, message = 'no words'): FakeReply => ({
  status,
  body: { code, message, request_id: 'r' },
});

/** Ids have 18 digits. */
const idOf = (index: number): string => `8${String(index + 1).padStart(17, '0')}`;

const said = (data: JsonValue): FakeReply => ({ body: { code: 0, message: 'SUCCEED', request_id: 'r', data } });

const finished = (id: string, order: JsonObject): JsonObject => ({
  task_id: id,
  task_status: 'succeed',
  task_status_msg: '',
  task_info: { external_task_id: order['external_task_id'] ?? null },
  final_unit_deduction: '2.5',
  created_at: 1_800_000_000_000,
  updated_at: 1_800_000_060_000,
  task_result: {
    videos: [
      {
        id: 'video-1',
        url: 'https://kling-result.example.com/video.mp4?sign=1',
        watermark_url: 'https://kling-result.example.com/labelled.mp4?sign=1',
        duration: order['duration'] ?? '5',
      },
    ],
  },
});

function problemOf(path: string, order: JsonObject): string | undefined {
  const known = FIELDS[path] ?? [];
  const unknown = Object.keys(order).find((name) => !known.includes(name));
  if (unknown !== undefined) return `${unknown} is not valid`;
  const wrong = Object.entries(RULES).find(([name, rule]) => order[name] !== undefined && !rule(order[name]));
  if (wrong) return `${wrong[0]} is not valid`;
  if (typeof order['prompt'] !== 'string') return 'prompt is missing';
  if (path.endsWith('image2video') && order['image'] === undefined) return 'image is missing';
  return togetherProblem(order);
}

/** Sound and a last image are of the grade pro, and exclude each other. */
function togetherProblem({ mode, sound, image_tail: last }: JsonObject): string | undefined {
  if (mode !== 'pro' && (sound === 'on' || last !== undefined)) return 'mode must be pro';
  return sound === 'on' && last !== undefined ? 'sound and image_tail exclude each other' : undefined;
}

const isOneOf =
  (...values: readonly string[]) =>
  (value: JsonValue | undefined): boolean =>
    typeof value === 'string' && values.includes(value);

/** A link, or base64 without a prefix. */
const isImage = (value: JsonValue | undefined): boolean =>
  typeof value === 'string' && /^(?:https?:\/\/\S+|[A-Za-z0-9+/]+=*)$/.test(value);

const RULES: Readonly<Record<string, (value: JsonValue | undefined) => boolean>> = {
  model_name: isOneOf('kling-v2-6'),
  mode: isOneOf('std', 'pro'),
  duration: isOneOf('5', '10'),
  aspect_ratio: isOneOf('16:9', '9:16', '1:1'),
  sound: isOneOf('on', 'off'),
  image: isImage,
  image_tail: isImage,
  watermark_info: (value) => isJsonObject(value) && typeof value['enabled'] === 'boolean',
};
