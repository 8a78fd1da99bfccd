import type { JsonObject } from '#contracts';
import { blocks, input, parts } from './media-examples.js';
import type { Examples } from './translation-example.js';

const SCHEMA: JsonObject = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

const config = (generationConfig: JsonObject): JsonObject => ({ generationConfig });

const answered = (marks: JsonObject): JsonObject => ({
  input: [
    { role: 'user', content: 'x' },
    { role: 'assistant', content: 'y', ...marks },
    { role: 'user', content: 'z' },
  ],
});

/** What requests say of the answer they want, beside the conversation. */
export const SETTING_EXAMPLES: Readonly<Record<string, Examples>> = {
  'JSON by a schema': {
    responses: { added: { text: { format: { type: 'json_schema', name: 'place', schema: SCHEMA } } } },
    messages: { added: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } } },
    gemini: {
      added: config({
        responseMimeType: 'application/json',
        responseSchema: { type: 'OBJECT', properties: { city: { type: 'STRING', nullable: true } } },
      }),
    },
  },
  'description of the answer that a schema is for': {
    responses: {
      given: { text: { format: { type: 'json_schema', name: 'place', schema: SCHEMA } } },
      added: { text: { format: { type: 'json_schema', name: 'place', description: 'Where it is.', schema: SCHEMA } } },
    },
  },
  'any JSON': {
    responses: { added: { text: { format: { type: 'json_object' } } } },
    gemini: { added: config({ responseMimeType: 'application/json' }) },
  },
  'one word of a list': {
    gemini: { added: config({ responseMimeType: 'text/x.enum', responseSchema: { type: 'STRING', enum: ['a'] } }) },
  },
  'output limit': {
    responses: { added: { max_output_tokens: 77 } },
    messages: { added: { max_tokens: 77 } },
    gemini: { added: config({ maxOutputTokens: 77 }) },
  },
  'stop sequences': {
    responses: { added: { stop: ['END'] } },
    messages: { added: { stop_sequences: ['END'] } },
    gemini: { added: config({ stopSequences: ['END'] }) },
  },
  'temperature up to 1': {
    responses: { added: { temperature: 0.25 } },
    messages: { added: { temperature: 0.25 } },
    gemini: { added: config({ temperature: 0.25 }) },
  },
  'temperature over 1': {
    responses: { added: { temperature: 1.5 } },
    gemini: { added: config({ temperature: 1.5 }) },
  },
  top_p: {
    responses: { added: { top_p: 0.25 } },
    messages: { added: { top_p: 0.25 } },
    gemini: { added: config({ topP: 0.25 }) },
  },
  top_k: { messages: { added: { top_k: 7 } }, gemini: { added: config({ topK: 7 }) } },
  seed: { gemini: { added: config({ seed: 7 }) } },
  penalties: {
    responses: { added: { presence_penalty: 0.5, frequency_penalty: 0.5 } },
    gemini: { added: config({ presencePenalty: 0.5, frequencyPenalty: 0.5 }) },
  },
  'effort or budget of reasoning': {
    responses: { added: { reasoning: { effort: 'high', summary: 'auto' } } },
    messages: { added: { thinking: { type: 'enabled', budget_tokens: 8_000 }, max_tokens: 20_000 } },
    gemini: { added: config({ thinkingConfig: { includeThoughts: true, thinkingBudget: 8_000 } }) },
  },
  'no reasoning': {
    responses: { added: { reasoning: { effort: 'none' } } },
    messages: { added: { thinking: { type: 'disabled' } } },
    gemini: { added: config({ thinkingConfig: { thinkingBudget: 0 } }) },
  },
  'reasoning as the model sees fit': { messages: { added: { thinking: { type: 'adaptive' } } } },
  'level of reasoning': {
    messages: { added: { output_config: { effort: 'high' } } },
    gemini: { added: config({ thinkingConfig: { thinkingLevel: 'MINIMAL' } }) },
  },
  'dearer way of reasoning': { responses: { added: { reasoning: { mode: 'pro' } } } },
  'odds of words': {
    responses: { added: { top_logprobs: 3, include: ['message.output_text.logprobs'] } },
    gemini: { added: config({ responseLogprobs: true, logprobs: 3 }) },
  },
  'answer in images or sound': { gemini: { added: config({ responseModalities: ['TEXT', 'IMAGE'] }) } },
  'voice, and shape of images': { gemini: { added: config({ speechConfig: { languageCode: 'en-US' } }) } },
  'cache made elsewhere, container': {
    messages: { added: { container: 'container_1' } },
    gemini: { added: { cachedContent: 'cachedContents/1' } },
  },
  'name of the end user': {
    responses: { added: { safety_identifier: 'user-7' } },
    messages: { added: { metadata: { user_id: 'user-7' } } },
  },
  'marks for the prompt cache': {
    responses: {
      given: input({ type: 'input_text', text: 'x' }),
      added: {
        ...input({ type: 'input_text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit' } }),
        prompt_cache_options: { mode: 'explicit' },
      },
    },
    messages: {
      given: blocks({ type: 'text', text: 'x' }),
      added: {
        ...blocks({ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h' } }),
        cache_control: { type: 'ephemeral' },
      },
    },
  },
  'why the prompt cache was missed': { messages: { added: { diagnostics: { previous_message_id: 'msg_1' } } } },
  'word to the billing of its vendor': {
    messages: {
      added: { system: [{ type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.177; cch=36ee5;' }] },
    },
  },
  'key of the prompt cache': { responses: { added: { prompt_cache_key: 'k' } } },
  'storing, and how long a prompt cache is kept': {
    responses: { added: { store: true, prompt_cache_retention: '24h' } },
  },
  'service tier at the usual price': {
    responses: { added: { service_tier: 'default' } },
    messages: { added: { service_tier: 'standard_only' } },
    gemini: { added: { serviceTier: 'standard' } },
  },
  'service tier that the account of the vendor decides': {
    responses: { added: { service_tier: 'auto' } },
    messages: { added: { service_tier: 'auto' } },
  },
  'metadata, labels': {
    responses: { added: { metadata: { a: 'b' }, client_metadata: { a: 'b' } } },
    gemini: { added: { ...parts({ text: 'x', partMetadata: { a: 'b' } }), labels: { a: 'b' } } },
  },
  verbosity: { responses: { added: { text: { verbosity: 'low' } } } },
  'truncation, context management': {
    responses: {
      added: { truncation: 'auto', context_management: [{ type: 'compaction', compact_threshold: 9_000 }] },
    },
    messages: { added: { context_management: { edits: [] } } },
  },
  'summary of the conversation that the vendor makes on demand': {
    messages: { added: { compaction: { instructions: 'Keep the names.' } } },
  },
  'moderation by the vendor': { responses: { added: { moderation: { model: 'a-moderation-model' } } } },
  'most calls of tools that the vendor runs': { responses: { added: { max_tool_calls: 3 } } },
  'thresholds of safety filters': {
    gemini: { added: { safetySettings: [{ category: 'HARM_CATEGORY_HATE_SPEECH', threshold: 'BLOCK_NONE' }] } },
  },
  'phase of a message': {
    responses: { given: answered({}), added: answered({ phase: 'commentary' }) },
  },
  'place of the caller': { gemini: { added: { toolConfig: { retrievalConfig: { languageCode: 'de' } } } } },
};
