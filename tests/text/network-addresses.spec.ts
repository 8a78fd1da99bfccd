import type { JsonObject } from '#contracts';
import { items, parts, tool, user } from '../harness/text-vendor/body-parts.js';
import {
  ALLOW_EVERYTHING,
  MODEL_OVER,
  startTextGateway,
  type TextGateway,
} from '../harness/text-vendor/text-gateway.js';
import { type Style, textRequest } from '../harness/text-vendor/text-requests.js';

/** Addresses that lead into a network, however they are written. */
const PRIVATE = [
  'http://169.254.169.254/latest/meta-data/iam',
  'http://127.0.0.1:6379/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://[::ffff:10.0.0.1]/',
  'http://[::1]/metrics',
  'http://user:pw@cdn.example/x.png',
  'https://cdn.example:6379/x.png',
  'http://localhost/x.png',
  'http://LOCALHOST./x.png',
  'http://metadata.google.internal/x',
  'http://printer.local/x',
  'http://redis/x',
];

const images = (url: string): readonly (readonly [Style, JsonObject, string])[] => [
  ['responses', items({ type: 'input_image', image_url: url }), 'input[0].content[0].image_url'],
  ['responses', items({ type: 'input_image', image_url: { url } }), 'input[0].content[0].image_url.url'],
  ['responses', items({ type: 'input_file', file_url: url }), 'input[0].content[0].file_url'],
  ['responses', tool({ type: 'remote_mcp', remote_mcp: { url } }), 'tools[0].remote_mcp.url'],
  ['responses', tool({ type: 'mcp', server_label: 'x', server_url: url }), 'tools[0].server_url'],
  [
    'responses',
    {
      input: [{ type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', image_url: url } }],
    },
    'input[0].output.image_url',
  ],
  ['chat', user({ type: 'image_url', image_url: { url } }), 'messages[0].content[0].image_url.url'],
  ['chat', user({ type: 'video_url', video_url: { url } }), 'messages[0].content[0].video_url.url'],
  ['messages', user({ type: 'image', source: { type: 'url', url } }), 'messages[0].content[0].source.url'],
  ['messages', user({ type: 'document', source: { type: 'url', url } }), 'messages[0].content[0].source.url'],
  [
    'messages',
    user({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source: { type: 'url', url } }] }),
    'messages[0].content[0].content[0].source.url',
  ],
  ['messages', { mcp_servers: [{ type: 'url', url, name: 'x' }] }, 'mcp_servers[0].url'],
  ['gemini', parts({ fileData: { fileUri: url } }), 'contents[0].parts[0].fileData.fileUri'],
  ['gemini', parts({ file_data: { mime_type: 'image/png', file_uri: url } }), 'contents[0].parts[0].fileData.fileUri'],
];

/** Addresses where a file or something unknown is expected. */
const hidden = (url: string): readonly (readonly [Style, JsonObject, string])[] => [
  ['responses', items({ type: 'input_file', file_data: url }), 'input[0].content[0].file_data'],
  [
    'responses',
    items({ type: 'input_audio', input_audio: { data: url, format: 'mp3' } }),
    'input[0].content[0].input_audio.data',
  ],
  ['responses', { input: [{ type: 'an_item_of_tomorrow', file_data: url }] }, 'input[0].file_data'],
  ['chat', user({ type: 'video', video: url }), 'messages[0].content[0].video'],
  ['chat', user({ type: 'video', video: [url] }), 'messages[0].content[0].video'],
  ['chat', user({ type: 'input_video', input_video: { data: url } }), 'messages[0].content[0].input_video.data'],
  [
    'messages',
    user({ type: 'image', source: { type: 'a_source_of_tomorrow', data: url } }),
    'messages[0].content[0].source.data',
  ],
  [
    'messages',
    user({
      type: 'tool_result',
      tool_use_id: 't',
      content: [{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: url } }],
    }),
    'messages[0].content[0].content[0].source.data',
  ],
  [
    'gemini',
    parts({
      functionResponse: { name: 'f', response: {}, parts: [{ inlineData: { mimeType: 'image/png', data: url } }] },
    }),
    'contents[0].parts[0].functionResponse.parts[0].inlineData.data',
  ],
];

let open: TextGateway;
beforeAll(async () => {
  open = await startTextGateway({}, { settings: ALLOW_EVERYTHING });
});
afterAll(() => open.stop());

async function ask(style: Style, model: string, added: JsonObject) {
  const { path, headers, body } = textRequest(style, { key: open.key, model, stream: false });
  return open.send<JsonObject & { message?: string }>('POST', path, { ...body, ...added }, headers);
}

describe('An address in a private network', () => {
  it.each(PRIVATE)('is refused wherever a request names it, before anything is sent: %s', async (url) => {
    const asked = open.vendor.seen.length;
    for (const [style, added, param] of images(url))
      for (const model of [MODEL_OVER[style], MODEL_OVER.chat]) {
        const { status, body } = await ask(style, model, added);
        expect([status, body.message]).toEqual([400, expect.stringContaining(param)]);
      }
    expect(open.vendor.seen.length).toBe(asked);
  });

  it('is also refused where a file is expected', async () => {
    for (const [style, added, param] of hidden('http://169.254.169.254/latest')) {
      const { status, body } = await ask(style, MODEL_OVER[style], added);
      expect([param, status, body.message]).toEqual([param, 400, expect.stringContaining(param)]);
    }
  });

  it('is distinguished from a public one', async () => {
    for (const [style, added] of images('https://cdn.example.com/x.png'))
      expect([added, (await ask(style, MODEL_OVER[style], added)).status]).toEqual([added, 200]);
  });
});
