import { MODEL_OVER, startTextGateway, type TextGateway, type Upstream } from '../harness/text-vendor/text-gateway.js';
import { type Style, textRequest } from '../harness/text-vendor/text-requests.js';

const OVER = ['responses', 'chat', 'messages', 'gemini'] as const satisfies readonly Upstream[];

/** Put in place of each value of a reply, one at a time. */
const STRANGE = ['null', '"x"', '{}', '[null]'];

/** The message of an unexpected failure. */
const UNFORESEEN = 'Something went wrong on our side';

/** Of a whole reply, or of an event. */
const JSON_OBJECT = /\{.*\}/s;

/** The JSON of a value with what stands under the key replaced, wherever it stands. */
const withStrange = (json: string, key: string, strange: string): string =>
  JSON.stringify(JSON.parse(json), (name, value: unknown) => (name === key ? JSON.parse(strange) : value));

function keysIn(json: string): string[] {
  const keys = new Set<string>();
  JSON.parse(json, (key, value: unknown) => {
    if (key !== '' && !/^\d+$/.test(key)) keys.add(key);
    return value;
  });
  return [...keys];
}

describe.each(OVER)('A reply over %s with one wrong field', (upstream) => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway();
  });
  afterAll(() => gateway.stop());

  async function ask(style: Style, stream: boolean): Promise<{ status: number; text: string }> {
    const { path, headers, body } = textRequest(style, { key: gateway.key, model: MODEL_OVER[upstream], stream });
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, text: await answer.text() };
  }

  async function strangeAnswers(style: Style, stream: boolean): Promise<string[]> {
    const { vendor } = gateway;
    const keys = new Set<string>();
    vendor.rewrite = (json) => {
      for (const key of keysIn(JSON_OBJECT.exec(json)?.[0] ?? '{}')) keys.add(key);
      return json;
    };
    await ask(style, stream);
    const wrong: string[] = [];
    let tried = 0;
    for (const key of keys) {
      for (const strange of STRANGE) {
        vendor.rewrite = (json) => json.replace(JSON_OBJECT, (object) => withStrange(object, key, strange));
        const { status, text } = await ask(style, stream);
        if (![200, 400, 429, 502, 503, 504, 529].includes(status) || text.includes(UNFORESEEN))
          wrong.push(`${key}: ${strange} was answered with ${status} ${text.slice(-200)}`);
        // Three failures in a row would open the circuit.
        tried += 1;
        if (tried % 2 === 1) continue;
        vendor.rewrite = (json) => json;
        await ask(style, stream);
      }
    }
    return wrong;
  }

  const OTHER: Style = upstream === 'chat' ? 'messages' : 'chat';
  it.each([upstream, OTHER].flatMap((style) => [true, false].map((stream) => ({ style, stream }))))(
    'is a failure of the upstream or none, and never an internal error: $style, streamed $stream',
    async ({ style, stream }) => {
      expect(await strangeAnswers(style, stream)).toEqual([]);
    },
    120_000,
  );
});
