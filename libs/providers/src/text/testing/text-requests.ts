import type { ModelTraits, TextRequest } from '#contracts';
import type { AskedProtocol } from '../traits/known-traits.js';
import { type TraitLookup, upstreamTraits } from '../traits/model-traits.js';

/** What holds for the models of an upstream whose operator says this of all of them. */
export const saying = (protocol: AskedProtocol, said: Partial<ModelTraits>): { readonly traits: TraitLookup } => ({
  traits: upstreamTraits({ protocol, models: {}, ofAll: () => ({}), said: { '*': said } }),
});

/** The least a request says. */
export const PLAIN: TextRequest = {
  model: 'public-name',
  stream: false,
  system: [],
  turns: [{ role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
  tools: [],
  hostedTools: [],
  toolChoice: { mode: 'auto' },
  parallelToolCalls: true,
  format: { type: 'text' },
  stopSequences: [],
};

/** The arguments of a tool, or the shape of an answer. */
export const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

/** A request that says nearly everything: two system prompts, an image, a tool, its call with proof, and its result. */
export const RICH: TextRequest = {
  ...PLAIN,
  stream: true,
  system: ['Be brief.', 'Be kind.'],
  turns: [
    {
      role: 'user',
      parts: [
        { type: 'text', text: 'What is this?' },
        { type: 'image', source: { kind: 'url', url: 'https://a.example/1.png' }, detail: 'low' },
        { type: 'image', source: { kind: 'inline', mediaType: 'image/png', base64: 'AAAA' } },
      ],
    },
    {
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'Hm', signature: 'messages:proof-m' },
        { type: 'reasoning', text: 'Well', signature: 'responses:proof-r' },
        { type: 'reasoning', text: '', signature: 'gemini:proof-g' },
        { type: 'text', text: 'Let me see.' },
        { type: 'call', id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris"}' },
      ],
    },
    {
      role: 'user',
      parts: [
        {
          type: 'result',
          callId: 'call_1',
          name: 'get_weather',
          content: [
            { type: 'text', text: '22 degrees' },
            { type: 'image', source: { kind: 'inline', mediaType: 'image/png', base64: 'BBBB' } },
          ],
          isError: false,
        },
      ],
    },
    { role: 'user', parts: [{ type: 'text', text: 'And now?' }] },
  ],
  tools: [{ name: 'get_weather', description: 'The weather.', parameters: SCHEMA, strict: true }, { name: 'get_time' }],
  maxOutputTokens: 5_000,
  temperature: 0.5,
  topP: 0.9,
  user: 'user-7',
};
