import { estimateInputTokens } from './estimate-tokens.js';

/** As long as a picture, without a blank in it. */
const LONG = 'A'.repeat(300_000);
const AS_TEXT = 100_000;

const estimate = (body: unknown): number => estimateInputTokens(body, JSON.stringify(body).length);

describe('The estimate of input tokens', () => {
  it.each<[string, object]>([
    ['a text without blanks', { input: LONG }],
    ['a text that looks like a data URI', { input: [{ content: `data:image/png;base64,${LONG}` }] }],
    [
      'arguments of a call',
      { messages: [{ content: [{ type: 'tool_use', input: { media_type: 'image/png', data: LONG } }] }] },
    ],
    [
      'arguments of a function call',
      { contents: [{ parts: [{ functionCall: { args: { mimeType: 'image/png', data: LONG } } }] }] },
    ],
    ['a schema of a tool', { tools: [{ parameters: { image_url: `data:image/png;base64,${LONG}` } }] }],
    ['a document of plain text', { source: { type: 'text', media_type: 'text/plain', data: LONG } }],
    ['characters of three bytes', { input: '你'.repeat(100_000) }],
  ])('counts %s as text', (_what, body) => {
    expect(estimate(body)).toBeGreaterThanOrEqual(AS_TEXT);
  });

  it.each<[string, object]>([
    ['responses', { type: 'input_image', image_url: `data:image/png;base64,${LONG}` }],
    ['responses, in an object', { type: 'input_image', image_url: { url: `data:image/png;base64,${LONG}` } }],
    ['messages', { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: LONG } }],
    ['gemini', { inlineData: { mimeType: 'image/webp', data: LONG } }],
  ])('counts a picture of %s as one picture', (_style, block) => {
    expect(estimate({ blocks: [block] })).toBeLessThan(1_600);
  });

  it('counts a file by its size', () => {
    const file = { file_data: `data:application/pdf;base64,${LONG}` };
    expect(estimate({ blocks: [file] })).toBeGreaterThan(7_000);
  });

  it('counts what references stand for, however short the request that was sent', () => {
    expect(estimateInputTokens({ input: [{ content: 'word '.repeat(3_000) }] }, undefined)).toBeGreaterThan(4_900);
  });
});
