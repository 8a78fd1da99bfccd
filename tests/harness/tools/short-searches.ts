/** A request's path and body. */
export type ShortRequest = readonly [path: string, body: object];

const ASKED = 'When is high water?';
const QUESTION = [{ role: 'user', content: ASKED }];
/** The most that is written on a search, in tokens. */
const SHORT = 16;

/** A search of the web whose answer is short, in each style as its libraries ask for it. */
export const SHORT_SEARCHES = {
  responses: (model, stream) => [
    '/v1/responses',
    { model, input: ASKED, store: false, tools: [{ type: 'web_search' }], max_output_tokens: SHORT, stream },
  ],
  chat: (model, stream) => [
    '/v1/chat/completions',
    { model, messages: QUESTION, web_search_options: {}, max_tokens: SHORT, stream },
  ],
  messages: (model, stream) => {
    const tools = [{ type: 'web_search_20250305', name: 'web_search' }];
    return ['/v1/messages', { model, messages: QUESTION, tools, max_tokens: SHORT, stream }];
  },
  gemini: (model, stream) => [
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    {
      contents: [{ role: 'user', parts: [{ text: ASKED }] }],
      tools: [{ googleSearch: {} }],
      generationConfig: { maxOutputTokens: SHORT },
    },
  ],
} as const satisfies Record<string, (model: string, stream: boolean) => ShortRequest>;
