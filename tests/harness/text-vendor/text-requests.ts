import type { JsonObject } from '#contracts';

export const STYLES = ['responses', 'chat', 'messages', 'gemini'] as const;
export type Style = (typeof STYLES)[number];

/** What a test wants to ask without a client library. */
export interface PlainQuestion {
  readonly key: string;
  readonly model: string;
  readonly stream: boolean;
  readonly text?: string;
}

/** An HTTP request of a style, with the headers its own clients send. */
export interface PlainRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

/** The smallest request of a style that says something. Responses are not stored. */
export function textRequest(style: Style, { key, model, stream, text = 'Hello there' }: PlainQuestion): PlainRequest {
  const bearer = { authorization: `Bearer ${key}` };
  switch (style) {
    case 'responses':
      return { path: '/v1/responses', headers: bearer, body: { model, input: text, stream, store: false } };
    case 'chat':
      return {
        path: '/v1/chat/completions',
        headers: bearer,
        body: { model, messages: [{ role: 'user', content: text }], stream },
      };
    case 'messages': {
      const messages = [{ role: 'user', content: text }];
      const headers = { 'x-api-key': key, 'vendor-version': '2025-01-01' };
      return { path: '/v1/messages', headers, body: { model, messages, max_tokens: 4_096, stream } };
    }
    default: {
      const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
      const contents = [{ role: 'user', parts: [{ text }] }];
      return { path: `/v1beta/models/${model}:${method}`, headers: bearer, body: { contents } };
    }
  }
}

export const TOOL_NAME = 'get_weather';
const PARAMETERS = { type: 'object', properties: {} };

/** The fields of a request that offer a tool without parameters. */
export const TOOL: Readonly<Record<Style, JsonObject>> = {
  responses: { tools: [{ type: 'function', name: TOOL_NAME, parameters: PARAMETERS }] },
  chat: { tools: [{ type: 'function', function: { name: TOOL_NAME, parameters: PARAMETERS } }] },
  messages: { tools: [{ name: TOOL_NAME, input_schema: PARAMETERS }] },
  gemini: { tools: [{ functionDeclarations: [{ name: TOOL_NAME }] }] },
};
