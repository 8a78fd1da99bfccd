import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import type { FakeProtocol, FakeReply, FakeRequest } from './fake-vendor.js';

const TASKS = '/contents/generations/tasks';

/** Every field of the body that Ark's reference lists for Seedance 2.0; the real API answers 400 to any other. */
const FIELDS = new Set([
  'model',
  'content',
  'callback_url',
  'return_last_frame',
  'execution_expires_after',
  'generate_audio',
  'safety_identifier',
  'tools',
  'resolution',
  'ratio',
  'duration',
  'seed',
  'watermark',
]);
const CONTENT_FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ['type', 'text'],
  image_url: ['type', 'image_url', 'role'],
  video_url: ['type', 'video_url', 'role'],
  audio_url: ['type', 'audio_url', 'role'],
};
/** Ark's video API: takes orders, and says of each what its script says. */
export class FakeArkVideo implements FakeProtocol {
  readonly basePath = '/api/v3';
  readonly key = 'ark-test-key-0123456789';
  readonly keyHeader = { name: 'authorization', value: `Bearer ${this.key}` };
  readonly unauthorized = refusal(401, 'AuthenticationError', `The API key ${this.key.slice(0, 3)} is wrong`);
  /** Every order that was taken, in its order. */
  readonly taken: JsonObject[] = [];
  private readonly removed = new Set<number>();
  /** What a taken task says of itself; the fields of a reply that finished unless changed. */
  state: JsonObject = {};

  reset(): void {
    this.state = {};
  }

  answer(request: FakeRequest): FakeReply {
    const { method, path } = request;
    if (method === 'POST' && path === TASKS) return this.take(request.body);
    if (method === 'GET' && path === TASKS) return { body: { items: [], total: 0 } };
    const id = path.startsWith(`${TASKS}/`) ? path.slice(TASKS.length + 1) : '';
    const number = Number(/^cgt-(\d+)$/.exec(id)?.[1] ?? 0);
    const order = this.removed.has(number) ? undefined : this.taken[number - 1];
    if (!order) return refusal(404, 'ResourceNotFound', 'The specified task was not found');
    if (method === 'DELETE') {
      // A waiting task is cancelled; for a finished one its record is removed, and its video with it.
      if (this.state['status'] !== 'running') return this.remove(number);
      return refusal(409, 'InvalidAction.RunningTaskDeletion', 'A running task cannot be deleted');
    }
    return { body: { ...this.finished(id, order), ...this.state } };
  }

  private remove(number: number): FakeReply {
    if (this.state['status'] !== 'queued') this.removed.add(number);
    return { body: {} };
  }

  private take(order: JsonObject): FakeReply {
    const problem = problemOf(order);
    if (problem) return refusal(400, 'InvalidParameter', problem);
    this.taken.push(order);
    return { body: { id: `cgt-${this.taken.length}` } };
  }

  private finished(id: string, order: JsonObject): JsonObject {
    return {
      id,
      model: order['model'] as string,
      status: 'succeeded',
      content: {
        video_url: 'https://ark-content.example.com/video.mp4?sign=1',
        ...(order['return_last_frame'] === true && {
          last_frame_url: 'https://ark-content.example.com/last.png?sign=1',
        }),
      },
      usage: { completion_tokens: 108_900, total_tokens: 108_900 },
      created_at: 1_800_000_000,
      updated_at: 1_800_000_060,
      seed: 11,
      resolution: order['resolution'] ?? '720p',
      duration: order['duration'] ?? 5,
      ratio: order['ratio'] ?? '16:9',
      framespersecond: 24,
    };
  }
}

/** The envelope of every refusal (official error page 1299023). */
export const arkRefusal = (status: number, code: string, message = 'no words'): FakeReply =>
  refusal(status, code, message);

function refusal(status: number, code: string, message: string): FakeReply {
  return { status, body: { error: { code, message, param: '', type: 'BadRequest' } } };
}

function problemOf(order: JsonObject): string | undefined {
  const unknown = Object.keys(order).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) return `${unknown} is not valid for this model`;
  const { content } = order;
  if (!Array.isArray(content) || content.length === 0) return 'content is missing';
  const wrong = Object.entries(RULES).find(([name, rule]) => order[name] !== undefined && !rule(order[name]));
  if (wrong) return `${wrong[0]} is not valid`;
  return content.map(contentProblem).find((problem) => problem !== undefined) ?? rolesProblem(content);
}

const isBetween =
  (min: number, max: number) =>
  (value: JsonValue | undefined): boolean =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max;

const isOneOf =
  (values: readonly string[]) =>
  (value: JsonValue | undefined): boolean =>
    typeof value === 'string' && values.includes(value);

/** What each field must be. */
const RULES: Readonly<Record<string, (value: JsonValue | undefined) => boolean>> = {
  model: (value) => typeof value === 'string' && value.startsWith('dreamina-'),
  duration: isBetween(4, 15),
  seed: isBetween(-1, 2 ** 32 - 1),
  ratio: isOneOf(['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', 'adaptive']),
  execution_expires_after: isBetween(3_600, 259_200),
  resolution: isOneOf(['480p', '720p', '1080p', '4k']),
};

function contentProblem(item: JsonValue): string | undefined {
  if (!isJsonObject(item) || typeof item['type'] !== 'string') return 'content.type is missing';
  const { type } = item;
  const allowed = CONTENT_FIELDS[type];
  if (!allowed) return `content.type ${type} is not valid`;
  if (Object.keys(item).some((name) => !allowed.includes(name))) return 'content has an unknown field';
  const isRight = type === 'text' ? typeof item['text'] === 'string' : isFile(item[type], type !== 'video_url');
  return isRight ? undefined : `content.${type} is not valid`;
}

const isFile = (file: JsonValue | undefined, inline: boolean): boolean => {
  const url = isJsonObject(file) ? file['url'] : undefined;
  if (typeof url !== 'string') return false;
  return /^https?:/.test(url) || (inline && /^data:[a-z]+\/[a-z0-9]+;base64,/.test(url));
};

/** Frames and references exclude each other. */
function rolesProblem(content: readonly JsonValue[]): string | undefined {
  const roles = content.flatMap((item) =>
    isJsonObject(item) && typeof item['role'] === 'string' ? [item['role']] : [],
  );
  const frames = roles.filter((role) => role.endsWith('_frame'));
  if (frames.length > 0 && frames.length < roles.length) return 'frames and references cannot be mixed';
  return roles.includes('last_frame') && !roles.includes('first_frame') ? 'last_frame needs first_frame' : undefined;
}
