import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import type { FakeProtocol, FakeReply, FakeRequest } from './fake-vendor.js';

const FIELDS = new Set(['model', 'prompt', 'n', 'aspect_ratio', 'resolution', 'response_format', 'user']);
const EDIT_FIELDS = new Set([...FIELDS, 'image', 'images']);
const RATIOS = new Set(['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '2:1', '1:2', 'auto']);

/** xAI's image API: answers with the images, or with what its script says. It refuses `size`. */
export class FakeXaiImage implements FakeProtocol {
  readonly basePath = '/v1';
  readonly key = 'xai-test-key-0123456789';
  readonly keyHeader = { name: 'authorization', value: `Bearer ${this.key}` };
  readonly unauthorized = xaiRefusal(400, 'Incorrect API key provided.');
  readonly taken: JsonObject[] = [];
  /** What is in `data` instead of what was ordered. */
  data: readonly JsonValue[] | undefined;
  /** What an order is said to cost. */
  ticks = 200_000_000;
  /** Its account keeps nothing, so that it has no place for links to lead to. */
  keepsNothing = false;

  reset(): void {
    this.data = undefined;
    this.ticks = 200_000_000;
    this.keepsNothing = false;
  }

  answer(request: FakeRequest): FakeReply {
    const reply = this.replyTo(request);
    return { ...reply, headers: { 'x-zero-data-retention': String(this.keepsNothing), ...reply.headers } };
  }

  private replyTo({ method, path, body }: FakeRequest): FakeReply {
    if (method === 'GET' && path === '/models') return { body: { data: [] } };
    const edits = path === '/images/edits';
    if (!edits && path !== '/images/generations') return xaiRefusal(404, 'no such path');
    const problem = problemOf(body, edits);
    if (problem) return xaiRefusal(422, problem);
    if (this.keepsNothing && body['response_format'] === 'url')
      return xaiRefusal(400, 'response_format "url" is not available to teams with zero data retention.');
    this.taken.push(body);
    return { body: { data: this.data ?? images(body), usage: { cost_in_usd_ticks: this.ticks } } };
  }
}

/** xAI says its refusals in two forms; this is the one with a code beside a sentence. */
export const xaiRefusal = (status: number, sentence: string): FakeReply => ({
  status,
  body: { code: 'Client specified an invalid argument', error: sentence },
});

const images = ({ n, response_format: format }: JsonObject): JsonValue[] =>
  Array.from({ length: Number(n ?? 1) }, (_, index) => ({
    ...(format === 'b64_json' ? { b64_json: 'ZmlsZQ==' } : { url: `https://imgen.example.com/${index}.jpeg` }),
    mime_type: 'image/jpeg',
    respect_moderation: true,
  }));

function problemOf(order: JsonObject, edits: boolean): string | undefined {
  const unknown = Object.keys(order).find((name) => !(edits ? EDIT_FIELDS : FIELDS).has(name));
  if (unknown !== undefined) return `unknown field ${unknown}`;
  const { n, aspect_ratio: ratio, image } = order;
  if (n !== undefined && !(Number(n) >= 1 && Number(n) <= 10)) return 'n must be 1 to 10';
  if (ratio !== undefined && !RATIOS.has(ratio as string)) return 'aspect_ratio is not valid';
  if (edits && !(isJsonObject(image) && image['type'] === 'image_url' && typeof image['url'] === 'string'))
    return 'image is missing';
  return undefined;
}
