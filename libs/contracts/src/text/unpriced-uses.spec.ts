import { requestUses } from './unpriced-uses.js';

const URL_FIELDS: Readonly<Record<string, (url: string) => [Parameters<typeof requestUses>[0], object]>> = {
  'input[0].output.image_url': (url) => [
    'responses',
    {
      input: [{ type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', image_url: url } }],
    },
  ],
  'messages[0].content[0].video_url.url': (url) => [
    'chat',
    { messages: [{ role: 'user', content: [{ type: 'video_url', video_url: { url } }] }] },
  ],
  'messages[0].content[0].source.content[0].source.url': (url) => [
    'messages',
    {
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'document',
              source: { type: 'content', content: [{ type: 'image', source: { type: 'url', url } }] },
            },
          ],
        },
      ],
    },
  ],
  'contents[0].parts[0].fileData.fileUri': (url) => [
    'gemini',
    { contents: [{ parts: [{ fileData: { fileUri: url } }] }] },
  ],
};

describe('The URLs of a text request', () => {
  const found = (field: string, url: string) => {
    const [style, body] = URL_FIELDS[field]?.(url) ?? ['chat', {}];
    return requestUses(style, { ...body }).urls;
  };

  it.each(Object.keys(URL_FIELDS))('are judged in %s whatever they begin with', (field) => {
    for (const url of [
      'blob:http://a.example/x',
      'jar:http://10.0.0.1!/x',
      '//10.0.0.1/',
      '\\\\10.0.0.1\\x',
      '/etc/passwd',
    ])
      expect(found(field, url)).toEqual([{ param: field, url }]);
  });

  it.each(Object.keys(URL_FIELDS))('are not looked for in %s when it holds the file itself', (field) => {
    expect(found(field, 'data:image/png;base64,iVBORw0KGgo=')).toEqual([]);
  });

  it('are found where a file may stand, and are not mistaken for its letters', () => {
    const audio = (data: string) =>
      requestUses('chat', { messages: [{ content: [{ type: 'input_audio', input_audio: { data } }] }] }).urls;
    for (const url of ['s3://bucket/x', 'smb://10.0.0.1/x', ' jar:http://10.0.0.1!/x'])
      expect(audio(url)).toHaveLength(1);
    for (const letters of ['//uQxAAAAAAA', 'iVBORw0KGgo=', 'Title:words', 'data:audio/wav;base64,UklGRg=='])
      expect(audio(letters)).toEqual([]);
  });
});

it('An empty list of MCP servers uses none', () => {
  expect(requestUses('messages', { mcp_servers: [] }).unpriced).toEqual([]);
  expect(requestUses('messages', { mcp_servers: [{ type: 'url', name: 'x' }] }).unpriced).toEqual([
    expect.objectContaining({ kind: 'tools', name: 'mcp', param: 'mcp_servers' }),
  ]);
});
