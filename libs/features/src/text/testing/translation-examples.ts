import type { JsonObject } from '#contracts';
import { output, result } from './earlier-calls.js';
import { HINT_EXAMPLES } from './hint-examples.js';
import { MEDIA_EXAMPLES, parts, PNG } from './media-examples.js';
import { REASONING_EXAMPLES } from './reasoning-examples.js';
import { RESULT_EXAMPLES } from './result-examples.js';
import { SETTING_EXAMPLES } from './setting-examples.js';
import { TOOL_EXAMPLES } from './tool-examples.js';
import type { Examples } from './translation-example.js';

const QUESTION: JsonObject = { role: 'user', content: 'x' };

/** An image, in each style. */
const SEEN = {
  responses: { type: 'input_image', image_url: `data:image/png;base64,${PNG}` },
  messages: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
  gemini: { inlineData: { mimeType: 'image/png', data: PNG } },
} satisfies Record<string, JsonObject>;

const inTheMiddle = (body: JsonObject, turns: string, said: JsonObject): JsonObject => ({
  ...body,
  [turns]: [...(body[turns] as JsonObject[]), said],
});

/** For every feature and every style that can say it, a request that does. */
export const TRANSLATION_EXAMPLES: Readonly<Record<string, Examples>> = {
  'system prompt': {
    responses: { added: { instructions: 'Be brief.' } },
    messages: { added: { system: [{ type: 'text', text: 'Be brief.' }] } },
    gemini: { added: { systemInstruction: { parts: [{ text: 'Be brief.' }] } } },
  },
  'system message in the middle': {
    responses: {
      given: output('y'),
      added: inTheMiddle(output('y'), 'input', { role: 'developer', content: 'Be long.' }),
    },
    messages: {
      given: result({ content: 'y' }),
      added: inTheMiddle(result({ content: 'y' }), 'messages', { role: 'system', content: 'Be long.' }),
    },
  },
  'system prompt alone': {
    responses: { added: { input: [{ role: 'developer', content: 'Say hello.' }] } },
    messages: { added: { messages: [{ role: 'system', content: 'Say hello.' }] } },
  },
  'system prompt with images or files': {
    responses: { added: { input: [{ role: 'developer', content: [SEEN.responses] }, QUESTION] } },
    messages: { added: { messages: [QUESTION, { role: 'system', content: [SEEN.messages] }] } },
    gemini: { added: { systemInstruction: { parts: [{ text: 'x' }, SEEN.gemini] } } },
  },
  'conversation that begins with a model turn': {
    responses: { added: { input: [{ role: 'assistant', content: 'Hi.' }, QUESTION] } },
    messages: { added: { messages: [{ role: 'assistant', content: 'Hi.' }, QUESTION] } },
    gemini: {
      added: {
        contents: [
          { role: 'model', parts: [{ text: 'Hi.' }] },
          { role: 'user', parts: [{ text: 'x' }] },
        ],
      },
    },
  },
  ...MEDIA_EXAMPLES,
  ...TOOL_EXAMPLES,
  ...RESULT_EXAMPLES,
  ...REASONING_EXAMPLES,
  'NUL and lone surrogates': {
    responses: { added: { input: 'a\0b\ud83d' } },
    messages: { added: { messages: [{ role: 'user', content: 'a\0b\ud83d' }] } },
    gemini: { added: parts({ text: 'a\0b\ud83d' }) },
  },
  ...SETTING_EXAMPLES,
  ...HINT_EXAMPLES,
};
