import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import type { FakeProtocol, FakeReply, FakeRequest } from './fake-vendor.js';

const SYNTHESIS = '/api/v1/services/aigc/video-generation/video-synthesis';
const TASKS = '/api/v1/tasks';

/** What each model takes: anything else is a 400. */
interface WanFields {
  readonly input: readonly string[];
  readonly parameters: readonly string[];
  readonly media?: readonly string[];
}

const TEXTS = ['prompt', 'negative_prompt'];
const COMMON = ['duration', 'prompt_extend', 'watermark', 'seed'];
const OLDER_TEXT: WanFields = { input: [...TEXTS, 'audio_url'], parameters: [...COMMON, 'size', 'shot_type'] };
const OLDER_IMAGE: WanFields = {
  input: [...TEXTS, 'img_url', 'audio_url', 'template'],
  parameters: [...COMMON, 'resolution', 'shot_type', 'audio'],
};
const MODELS: Readonly<Record<string, WanFields>> = {
  'wan2.5-t2v-preview': OLDER_TEXT,
  'wan2.5-i2v-preview': OLDER_IMAGE,
  'wan2.6-t2v': OLDER_TEXT,
  'wan2.6-i2v': OLDER_IMAGE,
  'wan2.7-t2v': { input: [...TEXTS, 'audio_url'], parameters: [...COMMON, 'resolution', 'ratio'] },
  'wan2.7-i2v': {
    input: [...TEXTS, 'media'],
    parameters: [...COMMON, 'resolution'],
    media: ['first_frame', 'last_frame', 'first_clip', 'driving_audio'],
  },
  'wan2.7-r2v': {
    input: [...TEXTS, 'media'],
    parameters: [...COMMON, 'resolution', 'ratio'],
    media: ['reference_image', 'first_frame', 'reference_video'],
  },
};

/** Which files go together in one video of wan2.7. */
const MEDIA_SETS = new Set([
  'first_frame',
  'driving_audio+first_frame',
  'first_frame+last_frame',
  'driving_audio+first_frame+last_frame',
  'first_clip',
  'first_clip+last_frame',
]);

/** Model Studio's video API: takes orders, and says of each what its script says. */
export class FakeDashscopeVideo implements FakeProtocol {
  readonly basePath = '';
  readonly key = 'sk-dashscope-test-0123456789';
  readonly keyHeader = { name: 'authorization', value: `Bearer ${this.key}` };
  readonly unauthorized = dashscopeRefusal(401, 'InvalidApiKey', 'Invalid API-key provided.');
  readonly taken: JsonObject[] = [];
  /** What a taken task says of itself in `output`; that it is done unless changed. */
  output: JsonObject = {};

  reset(): void {
    this.output = {};
  }

  answer({ method, path, headers, body }: FakeRequest): FakeReply {
    if (method === 'GET' && path === TASKS) return { body: { request_id: 'r', data: [], total: 0 } };
    if (method === 'POST' && path === SYNTHESIS) return this.take(body, headers['x-dashscope-async'] === 'enable');
    const [, id = '', verb] = /^\/api\/v1\/tasks\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
    const order = this.taken[Number(/^task-(\d+)$/.exec(id)?.[1] ?? 0) - 1];
    if (verb !== undefined) return this.cancel();
    if (!order) return { body: { request_id: 'r', output: { task_id: id, task_status: 'UNKNOWN' } } };
    return { body: finished(id, order, this.output) };
  }

  private take(order: JsonObject, isAsync: boolean): FakeReply {
    if (!isAsync) return dashscopeRefusal(403, 'AccessDenied', 'current user api does not support synchronous calls.');
    const problem = problemOf(order);
    if (problem) return dashscopeRefusal(400, 'InvalidParameter', problem);
    this.taken.push(order);
    return { body: { request_id: 'r', output: { task_id: `task-${this.taken.length}`, task_status: 'PENDING' } } };
  }

  private cancel(): FakeReply {
    if (this.output['task_status'] === 'PENDING') return { body: { request_id: 'r' } };
    return dashscopeRefusal(400, 'UnsupportedOperation', 'Failed to cancel the task: it is not in PENDING status.');
  }
}

/** The envelope of every refusal. */
export const dashscopeRefusal = (status: number, code: string, message = 'no words'): FakeReply => ({
  status,
  body: { code, message, request_id: 'r' },
});

function finished(id: string, order: JsonObject, script: JsonObject): JsonObject {
  const { duration = 5 } = isJsonObject(order['parameters']) ? order['parameters'] : {};
  return {
    request_id: 'r',
    output: {
      task_id: id,
      task_status: 'SUCCEEDED',
      submit_time: '2026-11-20 10:00:00.000',
      video_url: 'https://dashscope-result.example.com/video.mp4?Signature=1',
      ...script,
    },
    usage: { duration, output_video_duration: duration, SR: 720, video_count: 1 },
  };
}

function problemOf({ model, input, parameters, ...more }: JsonObject): string | undefined {
  const fields = typeof model === 'string' ? MODELS[model] : undefined;
  if (typeof model !== 'string' || !fields) return 'Model not exist.';
  if (!isJsonObject(input) || !isJsonObject(parameters)) return 'input is missing';
  const unknown = [
    ...Object.keys(more),
    ...Object.keys(input).filter((name) => !fields.input.includes(name)),
    ...Object.keys(parameters).filter((name) => !fields.parameters.includes(name)),
  ];
  if (unknown.length > 0) return `${unknown[0]} is not valid for this model`;
  const wrong = Object.entries(RULES).find(([name, rule]) => name in parameters && !rule(parameters[name]));
  if (wrong) return `${wrong[0]} is not valid`;
  return inputProblem(model, input, fields);
}

const isOneOf =
  (values: readonly string[]) =>
  (value: JsonValue | undefined): boolean =>
    typeof value === 'string' && values.includes(value);

const isFlag = (value: JsonValue | undefined): boolean => typeof value === 'boolean';

const isBetween =
  (min: number, max: number) =>
  (value: JsonValue | undefined): boolean =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max;

const RULES: Readonly<Record<string, (value: JsonValue | undefined) => boolean>> = {
  audio: isFlag,
  duration: isBetween(2, 15),
  prompt_extend: isFlag,
  ratio: isOneOf(['16:9', '9:16', '1:1', '4:3', '3:4']),
  resolution: isOneOf(['480P', '720P', '1080P']),
  seed: isBetween(0, 2 ** 31 - 1),
  shot_type: isOneOf(['single', 'multi']),
  size: (value) => typeof value === 'string' && /^\d{3,4}\*\d{3,4}$/.test(value),
  watermark: isFlag,
};

function inputProblem(model: string, input: JsonObject, { input: names, media }: WanFields): string | undefined {
  if (model.includes('t2v') && typeof input['prompt'] !== 'string') return 'prompt is missing';
  if (names.includes('img_url') && !isFile(input['img_url'])) return 'img_url is missing';
  return media && mediaProblem(model.includes('r2v'), input['media'], media);
}

function mediaProblem(
  isReference: boolean,
  media: JsonValue | undefined,
  known: readonly string[],
): string | undefined {
  if (!Array.isArray(media) || media.length === 0) return 'media is missing';
  const types = media.flatMap((item) => typeIn(item, known) ?? []);
  if (types.length < media.length) return 'media is not valid';
  if (isReference) return types.length > 5 ? 'media holds too many' : undefined;
  return MEDIA_SETS.has(types.toSorted().join('+')) ? undefined : 'media do not go together';
}

function typeIn(item: JsonValue, known: readonly string[]): string | undefined {
  const { type, url } = isJsonObject(item) ? item : {};
  return typeof type === 'string' && known.includes(type) && isFile(url) ? type : undefined;
}

const isFile = (value: JsonValue | undefined): boolean =>
  typeof value === 'string' && /^(?:https?:|data:image\/)/.test(value);
