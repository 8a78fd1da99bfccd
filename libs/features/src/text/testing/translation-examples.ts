import type { JsonObject } from '#contracts';
import { output, result } from './earlier-calls.js';
import { HINT_EXAMPLES } from './hint-examples.js';
import { MEDIA_EXAMPLES, parts } from './media-examples.js';
import { REASONING_EXAMPLES } from './reasoning-examples.js';
import { RESULT_EXAMPLES } from './result-examples.js';
import { SETTING_EXAMPLES } from './setting-examples.js';
import { TOOL_EXAMPLES } from './tool-examples.js';
import type { Examples } from './translation-example.js';

const QUESTION: JsonObject = { role: 'user', content: 'x' };

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
  'conversation that the model begins': {
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
  'NUL and halves of characters': {
    responses: { added: { input: 'a\0b\ud83d' } },
    messages: { added: { messages: [{ role: 'user', content: 'a\0b\ud83d' }] } },
    gemini: { added: parts({ text: 'a\0b\ud83d' }) },
  },
  ...SETTING_EXAMPLES,
  ...HINT_EXAMPLES,
};
