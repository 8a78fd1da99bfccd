import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import { dashscopeRefusal } from './fake-dashscope-video.js';
import type { FakeProtocol, FakeReply, FakeRequest } from './fake-vendor.js';

const GENERATION = '/api/v1/services/aigc/multimodal-generation/generation';

/** Parameters of each model, by the references of Z-Image and Qwen-Image. */
const QWEN = new Set(['size', 'n', 'negative_prompt', 'prompt_extend', 'watermark', 'seed']);
const PARAMETERS: Readonly<Record<string, ReadonlySet<string>>> = {
  'qwen-image-2.0': QWEN,
  'qwen-image-2.0-pro': QWEN,
  'z-image-turbo': new Set(['size', 'prompt_extend', 'seed']),
};
const LEAST_PIXELS = 512 ** 2;
const MOST_PIXELS = 2048 ** 2;

/** Model Studio's image API. No client library speaks it to these models: requests and replies are those of the pages above. */
export class FakeDashscopeImage implements FakeProtocol {
  readonly basePath = '';
  readonly key = 'sk-dashscope-test-0123456789';
  readonly keyHeader = { name: 'authorization', value: `Bearer ${this.key}` };
  readonly unauthorized = dashscopeRefusal(401, 'InvalidApiKey', 'Invalid API-key provided.');
  readonly taken: JsonObject[] = [];
  /** Which choices come instead of what was ordered. */
  choices: readonly JsonValue[] | undefined;

  reset(): void {
    this.choices = undefined;
  }

  answer({ method, path, body }: FakeRequest): FakeReply {
    if (method === 'GET') return { body: { request_id: 'r', data: [], total: 0 } };
    if (path !== GENERATION) return dashscopeRefusal(404, 'InvalidURL', 'no such path');
    const problem = problemOf(body);
    if (problem) return dashscopeRefusal(400, 'InvalidParameter', problem);
    this.taken.push(body);
    const count = Number((body['parameters'] as JsonObject)['n'] ?? 1);
    const choices = this.choices ?? [choiceOf(Array.from({ length: count }, (_, index) => index))];
    return { body: { request_id: 'r', output: { choices }, usage: { image_count: count, width: 1024, height: 1024 } } };
  }
}

/** A choice with the images of these numbers. */
export const choiceOf = (numbers: readonly number[]): JsonObject => ({
  finish_reason: 'stop',
  message: {
    role: 'assistant',
    content: numbers.map((number) => ({ image: `https://dashscope-result.example.com/${number}.png?Signature=1` })),
  },
});

function problemOf({ model, input, parameters, ...more }: JsonObject): string | undefined {
  const known = typeof model === 'string' ? PARAMETERS[model] : undefined;
  if (!known) return 'Model not exist.';
  if (Object.keys(more).length > 0 || !isJsonObject(input) || !isJsonObject(parameters)) return 'the body is not valid';
  return parametersProblem(parameters, known) ?? contentProblem(input['messages']);
}

function parametersProblem(parameters: JsonObject, known: ReadonlySet<string>): string | undefined {
  const unknown = Object.keys(parameters).find((name) => !known.has(name));
  if (unknown !== undefined) return `${unknown} is not valid for this model`;
  const { size, n = 1 } = parameters;
  const [width = 0, height = 0] = typeof size === 'string' ? size.split('*').map(Number) : [];
  const pixels = width * height;
  if (!(pixels >= LEAST_PIXELS && pixels <= MOST_PIXELS)) return 'size is not valid';
  return Number(n) >= 1 && Number(n) <= 6 ? undefined : 'n must be 1 to 6';
}

function contentProblem(messages: JsonValue | undefined): string | undefined {
  const [first] = Array.isArray(messages) ? messages : [];
  const content = isJsonObject(first) && first['role'] === 'user' ? first['content'] : undefined;
  if (!Array.isArray(content)) return 'messages is not valid';
  const texts = content.filter((part) => isJsonObject(part) && typeof part['text'] === 'string');
  const images = content.filter((part: JsonValue) => isJsonObject(part) && isFile(part['image']));
  if (texts.length !== 1 || texts.length + images.length !== content.length) return 'content is not valid';
  return images.length > 3 ? 'too many images' : undefined;
}

const isFile = (value: JsonValue | undefined): boolean => typeof value === 'string' && /^(?:https?:|data:)/.test(value);
