import type { JsonObject } from '#contracts';
import { eventually } from '#testing';
import { MODEL_OVER, startTextGateway, type TextGateway, type Upstream } from '../harness/text-vendor/text-gateway.js';
import { type Style, textRequest } from '../harness/text-vendor/text-requests.js';

const OVER = ['responses', 'chat', 'messages', 'gemini'] as const satisfies readonly Upstream[];

/** Takes a second to parse and a hundred times its size; a vendor may send ten times as much. */
const MUCH = `[${'{},'.repeat(1_500_000)}1]`;

/** Puts it into a reply's JSON, or into each event. */
const withMuch = (json: string): string => json.replaceAll(/(^|data: )\{/g, `$1{"much":${MUCH},`);

/** Two megabytes of what keeps a connection open, before each event. */
const NOTHING = {
  comments: ': still here\n\n'.repeat(150_000),
  'empty objects': 'data: {}\n\n'.repeat(200_000),
  newlines: '\n'.repeat(2_000_000),
};

describe('A vendor that sends without end', () => {
  let gateway: TextGateway;
  beforeAll(async () => {
    gateway = await startTextGateway();
  });
  afterAll(() => gateway.stop());

  async function post(path: string, headers: Readonly<Record<string, string>>, body: JsonObject) {
    const answer = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, text: await answer.text() };
  }

  /** What a caller meets while the vendor sends so; then it serves again, or it would cool down. */
  async function whileSending(rewrite: (json: string) => string, upstream: Upstream, style: Style, stream: boolean) {
    const { path, headers, body } = textRequest(style, { key: gateway.key, model: MODEL_OVER[upstream], stream });
    gateway.vendor.rewrite = rewrite;
    const answer = await post(path, headers, body);
    gateway.vendor.rewrite = (json) => json;
    await eventually(async () => (await post(path, headers, body)).status === 200);
    return answer;
  }

  describe.each(OVER)('over %s', (upstream) => {
    const styles: readonly Style[] = [upstream, upstream === 'chat' ? 'messages' : 'chat'];

    it.each(styles)('meets its end where a reply has very much structure, whole, in the %s style', async (style) => {
      expect(await whileSending(withMuch, upstream, style, false)).toMatchObject({ status: 502 });
    });

    it.each(styles.flatMap((style) => Object.entries(NOTHING).map(([what, sent]) => ({ style, what, sent }))))(
      'meets its end where a stream says nothing for long, in the $style style: $what',
      async ({ style, sent }) => {
        const { status, text } = await whileSending((event) => sent + event, upstream, style, true);
        expect(`${status} ${text.slice(-1_000)}`).toMatch(/^502|sent much that says nothing/);
      },
    );
  });

  it.each([
    ['very much structure', `{"x":${MUCH}}`, 'hold at most 100000 values'],
    ['depth', `{"x":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, 'not nest deeper than 200 arrays and objects'],
  ])(
    'JSON with %s in the arguments of a call that the caller says was made is refused by name',
    async (_what, written, rule) => {
      const { path, headers, body } = textRequest('chat', {
        key: gateway.key,
        model: MODEL_OVER.messages,
        stream: false,
      });
      const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: written } };
      const messages = [
        ...(body['messages'] as JsonObject[]),
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: 'nothing' },
      ];
      const { status, text } = await post(path, headers, { ...body, messages });
      expect(status).toBe(400);
      expect(text).toContain(`messages: The arguments of all calls in it together may ${rule}.`);
    },
  );
});
