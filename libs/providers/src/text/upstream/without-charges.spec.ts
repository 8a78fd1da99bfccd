import fc from 'fast-check';
import type { JsonObject } from '#contracts';
import { atBest } from '#testing';
import { asStream } from '../testing/decoded.js';
import { eventsWithoutCharges, withoutCharges } from './without-charges.js';

/** What vendors and gateways say of money in the usage of a reply. */
const CHARGED = {
  cost: 0.0042,
  cost_details: { upstream_inference_cost: 0.004, upstream_inference_prompt_cost: 0.001 },
  is_byok: true,
  cost_in_usd_ticks: 42_000_000,
  estimated_cost: 0.0042,
  market_cost: '0.005',
  total_cost: 1,
  credits_used: 840,
  cache_discount: -0.1,
  billing: { amount: 0.0042 },
  currency: 'USD',
};
const CHARGES = Object.keys(CHARGED);

/** What a model or a caller wrote, with the same names in it. */
const WRITTEN = { cost: 5, is_byok: true, usage: { cost: 1 }, pricing: [{ price: 2 }] };

/** Replies and events of each style, with what is charged where vendors say it, and what must be left of them. */
const SHAPES: readonly (readonly [string, (charged: object) => object])[] = [
  [
    'a chat completion',
    (charged) => ({
      id: 'c',
      ...charged,
      choices: [
        {
          message: {
            content: 'It says "cost": 5, and {"usage":{"cost":1}}',
            tool_calls: [{ function: { name: 'f', arguments: WRITTEN } }],
            provider_metadata: { gateway: { ...charged, routing: { attempts: [{ ...charged, ok: true }] } } },
          },
          usage: { ...charged, prompt_tokens: 1 },
        },
      ],
      usage: { prompt_tokens: 3, ...charged, prompt_tokens_details: { cached_tokens: 0, ...charged } },
    }),
  ],
  [
    'a chunk of a chat stream',
    (charged) => ({
      choices: [{ delta: { content: 'cost', providerMetadata: { gateway: charged } } }],
      x_groq: { usage: { prompt_tokens: 1, ...charged } },
      x_vendor: { ...charged, routing: { attempts: [{ ...charged, ok: true }] } },
      'x-vendor': { ...charged },
      usage: charged,
    }),
  ],
  [
    'a message',
    (charged) => ({
      content: [{ type: 'tool_use', input: WRITTEN }],
      usage: { ...charged, input_tokens: 1, server_tool_use: { web_search_requests: 1, ...charged } },
    }),
  ],
  [
    'the beginning of a message',
    (charged) => ({ type: 'message_start', message: { usage: { input_tokens: 1, ...charged } } }),
  ],
  [
    'the end of a message',
    (charged) => ({ type: 'message_delta', delta: { stop_reason: null }, usage: { ...charged } }),
  ],
  [
    'a response',
    (charged) => ({
      metadata: { cost: 'centre 5' },
      tools: [{ type: 'function', parameters: { properties: WRITTEN } }],
      text: { format: { schema: WRITTEN } },
      output: [{ type: 'function_call', arguments: WRITTEN }],
      ...charged,
      usage: { input_tokens: 1, ...charged },
    }),
  ],
  [
    'the end of a stream of a response',
    (charged) => ({
      type: 'response.completed',
      response: { metadata: WRITTEN, usage: { ...charged, input_tokens: 1 } },
    }),
  ],
  [
    'a Gemini reply',
    (charged) => ({
      candidates: [
        {
          content: { parts: [{ functionCall: { args: WRITTEN } }] },
          ...charged,
          providerMetadata: { gateway: charged },
        },
      ],
      usageMetadata: { promptTokenCount: 1, ...charged },
    }),
  ],
  [
    'embeddings',
    (charged) => ({ data: [{ embedding: [0.1] }], usage: { prompt_tokens: 1, ...charged }, meta: { usage: charged } }),
  ],
];

describe.each(SHAPES)('What a vendor charged, in %s', (_what, shape) => {
  it.each([0, 2])('is taken out, and all else stays, with JSON of indent %i', (indent) => {
    const json = JSON.stringify(shape(CHARGED), null, indent);
    expect(JSON.parse(withoutCharges(json))).toEqual(shape({}));
    expect(withoutCharges(JSON.stringify(shape({}), null, indent))).toBe(JSON.stringify(shape({}), null, indent));
  });

  it('is taken out of an event, however its lines end and its data is cut, and its neighbours stay byte for byte', () => {
    const event = shape(CHARGED);
    for (const newline of ['\n', '\r\n', '\r'])
      for (const indent of [0, 2]) {
        const data = JSON.stringify(event, null, indent)
          .split('\n')
          .map((line) => `data: ${line}`);
        const before = `: comment "cost":${newline}data: {"choices":[{"delta":{"content":"é 猫"}}]}${newline}${newline}`;
        const sent = [
          before,
          'event: x',
          newline,
          data.join(newline),
          newline,
          newline,
          'data: [DONE]',
          newline,
          newline,
        ];
        const shown = eventsWithoutCharges(Buffer.from(sent.join(''))).toString('utf8');
        expect(shown.startsWith(before)).toBe(true);
        expect(shown.endsWith(`data: [DONE]${newline}${newline}`)).toBe(true);
        const [, block = ''] = shown.split(/\r\n\r\n|\n\n|\r\r/);
        expect(block.startsWith('event: x')).toBe(true);
        const written = block.split(/\r\n|\n|\r/).filter((line) => line.startsWith('data:'));
        expect(JSON.parse(written.map((line) => line.slice(5)).join('\n'))).toEqual(shape({}));
      }
  });
});

describe('What is no charge', () => {
  it('is passed on as the very same bytes, whatever words a text or a call holds', () => {
    const written = [
      { choices: [{ delta: { content: '"usage":{"cost":1,"is_byok":true}' } }] },
      { choices: [{ delta: { tool_calls: [{ function: { arguments: WRITTEN } }] } }] },
      { type: 'content_block_start', content_block: { type: 'tool_use', input: WRITTEN } },
      { type: 'response.created', response: { metadata: WRITTEN, tools: [WRITTEN], usage: null } },
      { type: 'response.created', response: { billing: { payer: 'developer' }, usage: null } },
    ];
    for (const event of written) {
      const json = JSON.stringify(event);
      expect(withoutCharges(json)).toBe(json);
      const bytes = Buffer.from(asStream([event]));
      expect(eventsWithoutCharges(bytes).equals(bytes)).toBe(true);
    }
  });

  it('keeps its numbers as they were written', () => {
    const json = '{"created":1.0,"n":12345678901234567890,"usage":{"cost":1e-7,"prompt_tokens":3.0}}';
    expect(withoutCharges(json)).toBe('{"created":1.0,"n":12345678901234567890,"usage":{"prompt_tokens":3.0}}');
  });

  it('is kept of any JSON, and nothing of what is charged is left in the usage of it', () => {
    const names = fc.constantFrom('usage', 'choices', 'message', 'content', 'tokens', '"x":', 'a\\', ...CHARGES);
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 5 }, fc.constantFrom(1, 'cost', '"cost": {', null), tie('list'), tie('object')),
      list: fc.array(tie('value'), { maxLength: 3 }),
      object: fc.dictionary(names, tie('value'), { maxKeys: 4 }),
    }));
    fc.assert(
      fc.property(fc.dictionary(names, value, { maxKeys: 5 }), fc.constantFrom(0, 1), (reply, indent) => {
        const shown = JSON.parse(withoutCharges(JSON.stringify(reply, null, indent))) as unknown;
        expect(shown).toEqual(prunedOf(reply as JsonObject, 'around'));
      }),
      { numRuns: 500 },
    );
  });

  it.each(['', '{', '{"cost":', '{"usage":{"cost":1', '[{"cost":1}]', '{"cost" 1}', '"cost":1'])(
    'stays as it is where it is no JSON object: %s',
    (text) => expect(withoutCharges(text)).toBe(text),
  );
});

/** The same by plain recursion over what was parsed. */
function prunedOf(value: unknown, search: 'around' | 'account'): unknown {
  if (Array.isArray(value)) return value.map((item) => prunedOf(item, search));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !CHARGES.includes(name));
  return Object.fromEntries(
    kept.map(([name, inner]) => {
      if (search === 'account' || name === 'usage') return [name, prunedOf(inner, 'account')];
      return [name, ['choices', 'message'].includes(name) ? prunedOf(inner, search) : inner];
    }),
  );
}

it('A long event without charges is passed over within a few milliseconds for each megabyte, also a hostile one', async () => {
  for (const long of [
    '"'.repeat(1_000_000),
    'a'.repeat(1_000_000),
    '"cost\\'.repeat(200_000),
    '"cost"'.repeat(150_000),
  ]) {
    const bytes = Buffer.from(
      `data: {"choices":[{"delta":{"content":${JSON.stringify(long)}}}],"usage":{"cost":1}}\n\n`,
    );
    expect(await atBest(1_000, () => eventsWithoutCharges(bytes))).toBeLessThan(1_000);
  }
});
