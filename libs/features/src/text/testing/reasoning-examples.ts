import type { JsonObject } from '#contracts';
import { CALLED, output, response, result } from './earlier-calls.js';
import type { Example, Examples } from './translation-example.js';

/** A proof of each vendor, which is sent only to that vendor. */
export const PROOF = '$PROOF';
export const FOREIGN_PROOF = 'sandbox:reasoning';

/** A call of an earlier turn, with reasoning before it that `proof` belongs to. */
const reasoned = (proof: string): Record<'responses' | 'messages' | 'gemini', JsonObject> => ({
  responses: {
    input: [
      CALLED.responses[0] as JsonObject,
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'deep' }], encrypted_content: proof },
      CALLED.responses[1] as JsonObject,
      { type: 'function_call_output', call_id: 'c', output: 'y' },
    ],
  },
  messages: {
    messages: [
      CALLED.messages[0] as JsonObject,
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'deep', signature: proof },
          { type: 'tool_use', id: 'c', name: 'f', input: { a: 1 } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'y' }] },
    ],
  },
  gemini: {
    contents: [
      CALLED.gemini[0] as JsonObject,
      { role: 'model', parts: [{ functionCall: { id: 'c', name: 'f', args: { a: 1 } }, thoughtSignature: proof }] },
      { role: 'user', parts: [{ functionResponse: { id: 'c', name: 'f', response: { result: 'y' } } }] },
    ],
  },
});

/** The same without the reasoning. */
const UNREASONED = {
  responses: output('y'),
  messages: result({ content: 'y' }),
  gemini: response({ response: { result: 'y' } }),
};

const fromGiven = (
  given: Record<'responses' | 'messages' | 'gemini', JsonObject>,
  added: Record<'responses' | 'messages' | 'gemini', JsonObject>,
): Record<'responses' | 'messages' | 'gemini', Example> => ({
  responses: { given: given.responses, added: added.responses },
  messages: { given: given.messages, added: added.messages },
  gemini: { given: given.gemini, added: added.gemini },
});

/** Reasoning of earlier turns. */
export const REASONING_EXAMPLES: Readonly<Record<string, Examples>> = {
  'reasoning signed by the same vendor': fromGiven(UNREASONED, reasoned(PROOF)),
  'reasoning signed by another vendor': fromGiven(UNREASONED, reasoned(FOREIGN_PROOF)),
};
