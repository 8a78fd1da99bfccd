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
  'JSON schema of the reply': {
    responses: { added: { text: { format: { type: 'json_schema', name: 'place', schema: SCHEMA } } } },
    messages: { added: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } } },
    gemini: {
      added: config({
        responseMimeType: 'application/json',
        responseSchema: { type: 'OBJECT', properties: { city: { type: 'STRING', nullable: true } } },
      }),
    },
  },
  'description of the JSON schema': {
    responses: {
      given: { text: { format: { type: 'json_schema', name: 'place', schema: SCHEMA } } },
      added: { text: { format: { type: 'json_schema', name: 'place', description: 'Where it is.', schema: SCHEMA } } },
    },
  },
  'JSON mode without a schema': {
    responses: { added: { text: { format: { type: 'json_object' } } } },
    gemini: { added: config({ responseMimeType: 'application/json' }) },
  },
  'enum as the reply': {
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
  'reasoning effort or budget': {
    responses: { added: { reasoning: { effort: 'high', summary: 'auto' } } },
    messages: { added: { thinking: { type: 'enabled', budget_tokens: 8_000 }, max_tokens: 20_000 } },
    gemini: { added: config({ thinkingConfig: { includeThoughts: true, thinkingBudget: 8_000 } }) },
  },
  'no reasoning': {
    responses: { added: { reasoning: { effort: 'none' } } },
    messages: { added: { thinking: { type: 'disabled' } } },
    gemini: { added: config({ thinkingConfig: { thinkingBudget: 0 } }) },
  },
  'adaptive reasoning': { messages: { added: { thinking: { type: 'adaptive' } } } },
  'reasoning level': {
    messages: { added: { output_config: { effort: 'high' } } },
    gemini: { added: config({ thinkingConfig: { thinkingLevel: 'MINIMAL' } }) },
  },
  'reasoning mode at a higher price': { responses: { added: { reasoning: { mode: 'pro' } } } },
  logprobs: {
    responses: { added: { top_logprobs: 3, include: ['message.output_text.logprobs'] } },
    gemini: { added: config({ responseLogprobs: true, logprobs: 3 }) },
  },
  'image or audio output': { gemini: { added: config({ responseModalities: ['TEXT', 'IMAGE'] }) } },
  'speech and image configuration': { gemini: { added: config({ speechConfig: { languageCode: 'en-US' } }) } },
  'cache made elsewhere, container': {
    messages: { added: { container: 'container_1' } },
    gemini: { added: { cachedContent: 'cachedContents/1' } },
  },
  'continuation of a long reply by its token': { gemini: { added: { continuationToken: 'token' } } },
  'end user id': {
    responses: { added: { safety_identifier: 'user-7' } },
    messages: { added: { metadata: { user_id: 'user-7' } } },
  },
  'prompt cache breakpoints': {
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
  'prompt cache diagnostics': {
    responses: { added: { diagnostics: { previous_response_id: 'resp_1' } } },
    messages: { added: { diagnostics: { previous_message_id: 'msg_1' } } },
  },
  'billing header in the prompt': {
    messages: {
      added: { system: [{ type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.177; cch=36ee5;' }] },
    },
  },
  'prompt cache key': { responses: { added: { prompt_cache_key: 'k' } } },
  'store, and prompt cache retention': {
    responses: { added: { store: true, prompt_cache_retention: '24h' } },
    gemini: { added: { store: false } },
  },
  'service tier at the usual price': {
    responses: { added: { service_tier: 'default' } },
    messages: { added: { service_tier: 'standard_only' } },
    gemini: { added: { serviceTier: 'standard' } },
  },
  'automatic service tier': {
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
  'compaction by the vendor on demand': {
    messages: { added: { compaction: { instructions: 'Keep the names.' } } },
  },
  'moderation by the vendor': { responses: { added: { moderation: { model: 'a-moderation-model' } } } },
  'maximum number of hosted tool calls': { responses: { added: { max_tool_calls: 3 } } },
  'safety settings': {
    gemini: { added: { safetySettings: [{ category: 'HARM_CATEGORY_HATE_SPEECH', threshold: 'BLOCK_NONE' }] } },
  },
  'phase of a message': {
    responses: { given: answered({}), added: answered({ phase: 'commentary' }) },
  },
  'location of the caller': { gemini: { added: { toolConfig: { retrievalConfig: { languageCode: 'de' } } } } },
};
