import { estimateInput } from './estimate-tokens.js';

/** As long as an image, without a blank in it. */
const LONG = 'A'.repeat(300_000);
const AS_TEXT = 100_000;

const LIMITS = { maxOutputTokens: 1_000, contextTokens: 200_000, imageTokens: 1_500 };

const estimate = (body: unknown): number => estimateInput(body, Buffer.from(JSON.stringify(body)), LIMITS).heldTokens;

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
    ['what a search found', { content: [{ type: 'web_search_result', url: 'https://a.test/x', text: LONG }] }],
    ['a document of words that begin with an address', { source: { type: 'text', data: `https://a.test/ ${LONG}` } }],
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
  ])('counts an image of %s as one image', (_style, block) => {
    expect(estimate({ blocks: [block] })).toBeLessThan(1_600);
  });

  it.each<[string, object, number]>([
    ['a small file by its bytes', { file_data: `data:application/pdf;base64,${'A'.repeat(40_000)}` }, 30_000],
    ['a large file as all a model can read', { file_data: `data:application/pdf;base64,${LONG}` }, 200_000],
    ['a sound by its bytes', { type: 'input_audio', input_audio: { data: 'A'.repeat(4_000), format: 'mp3' } }, 3_000],
    ['a document by its address', { type: 'document', source: { type: 'url', url: 'https://a.test/x' } }, 200_000],
    ['a document by its id', { type: 'document', source: { type: 'file', file_id: 'file_1' } }, 200_000],
    ['a file by its address', { type: 'input_file', file_url: 'https://a.test/x' }, 200_000],
    ['a file by its id', { type: 'input_file', file_id: 'file_1' }, 200_000],
    ['a file of gemini', { fileData: { fileUri: 'https://a.test/x' } }, 200_000],
    ['a video by its address', { type: 'video_url', video_url: { url: 'https://a.test/x' } }, 200_000],
    ['a recording by its address', { type: 'audio', audio_url: 'https://a.test/x' }, 200_000],
    ['a video of gemini', { fileData: { mimeType: 'video/mp4', fileUri: 'https://a.test/x' } }, 200_000],
    ['a cache', { cachedContent: 'cachedContents/x' }, 200_000],
    ['a video by its address and nothing else', { type: 'video', url: 'https://a.test/x' }, 200_000],
    ['a video of a list of addresses', { type: 'video', video: ['https://a.test/x'] }, 200_000],
    ['a video in place of its bytes', { type: 'input_video', data: 'https://a.test/x' }, 200_000],
    ['a file in place of its bytes', { type: 'a_file_of_tomorrow', file_data: ' https://a.test/x' }, 200_000],
    ['a sound in place of its bytes', { input_audio: { data: 'https://a.test/x', format: 'mp3' } }, 200_000],
    ['an image by its address', { type: 'input_image', image_url: 'https://a.test/x' }, 1_500],
    ['an image by its address in an object', { type: 'input_image', image_url: { url: 'https://a.test/x' } }, 1_500],
    ['an image by its id', { type: 'input_image', file_id: 'file_1' }, 1_500],
    ['an image of messages', { type: 'image', source: { type: 'url', url: 'https://a.test/x' } }, 1_500],
    ['an image of gemini', { fileData: { mimeType: 'image/png', fileUri: 'gs://x' } }, 1_500],
  ])('holds the largest cost of %s, however short it is written', (_what, block, tokens) => {
    expect(estimate({ blocks: [block] })).toBeGreaterThanOrEqual(tokens);
    expect(estimate({ blocks: [block] })).toBeLessThan(tokens + 200);
  });

  it('finds a reference written with escapes', () => {
    const sent = '{"contents":[{"parts":[{"f\\u0069leData":{"f\\u0069leUr\\u0069":"x"}}]}]}';
    expect(estimateInput(JSON.parse(sent), Buffer.from(sent), LIMITS).heldTokens).toBeGreaterThanOrEqual(200_000);
  });

  it('counts text about files as text', () => {
    expect(estimate({ input: 'open the file at this url, with file_id and fileUri in its source' })).toBeLessThan(60);
  });

  it('counts referenced content, however short the request', () => {
    expect(
      estimateInput({ input: [{ content: 'word '.repeat(3_000) }] }, undefined, LIMITS).heldTokens,
    ).toBeGreaterThan(4_900);
  });
});
