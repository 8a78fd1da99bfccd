import type { JsonObject } from '#contracts';
import { PNG, parts } from './media-examples.js';
import type { Examples } from './translation-example.js';

const QUESTION: JsonObject = { role: 'user', content: 'x' };
const PLACE = { url: 'https://a.example/', title: 'A' };

const image = (detail: JsonObject): JsonObject => ({
  input: [
    {
      role: 'user',
      content: [{ type: 'input_image', image_url: `data:image/png;base64,${PNG}`, ...detail }],
    },
  ],
});

const said = (marks: JsonObject): JsonObject => ({
  input: [QUESTION, { role: 'assistant', content: [{ type: 'output_text', text: 'y', ...marks }] }, QUESTION],
});

const written = (marks: JsonObject): JsonObject => ({
  messages: [QUESTION, { role: 'assistant', content: [{ type: 'text', text: 'y', ...marks }] }, QUESTION],
});

/** What requests say that is worth something to one vendor, and mostly nothing to the others. */
export const HINT_EXAMPLES: Readonly<Record<string, Examples>> = {
  'media resolution': {
    responses: { given: image({}), added: image({ detail: 'low' }) },
    gemini: { added: { generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_LOW', audioTimestamp: true } } },
  },
  'prefilled reply': {
    messages: { added: { messages: [QUESTION, { role: 'assistant', content: '{"city":' }] } },
    gemini: {
      added: {
        contents: [...(parts({ text: 'x' })['contents'] as JsonObject[]), { role: 'model', parts: [{ text: 'y' }] }],
      },
    },
  },
  'whether reasoning is shown': {
    responses: {
      given: { reasoning: { effort: 'high' } },
      added: { reasoning: { effort: 'high', summary: 'detailed' } },
    },
    messages: {
      given: { max_tokens: 9_000, thinking: { type: 'enabled', budget_tokens: 2_000 } },
      added: { thinking: { type: 'enabled', budget_tokens: 2_000, display: 'omitted' } },
    },
    gemini: {
      given: { generationConfig: { thinkingConfig: { thinkingBudget: 2_000 } } },
      added: { generationConfig: { thinkingConfig: { thinkingBudget: 2_000, includeThoughts: true } } },
    },
  },
  'token budget shown to the model': {
    messages: { added: { output_config: { task_budget: { type: 'tokens', total: 20_000 } } } },
  },
  'additional response contents (`include`)': {
    responses: {
      added: {
        include: ['reasoning.encrypted_content', 'web_search_call.action.sources', 'code_interpreter_call.outputs'],
        stream_options: { include_obfuscation: false },
      },
    },
    gemini: { added: { generationConfig: { enableEnhancedCivicAnswers: true } } },
  },
  'citations of earlier replies': {
    responses: {
      given: said({}),
      added: said({ annotations: [{ type: 'url_citation', start_index: 0, end_index: 1, ...PLACE }] }),
    },
    messages: {
      given: written({}),
      added: written({
        citations: [{ type: 'web_search_result_location', cited_text: 'y', encrypted_index: 'e', ...PLACE }],
      }),
    },
  },
  'stored conversation (thread)': { messages: { added: { thread: { type: 'create' } } } },
};
