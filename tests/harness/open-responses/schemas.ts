import type { JsonObject } from '#contracts';

const STRING: JsonObject = { type: 'string' };
const INTEGER: JsonObject = { type: 'integer' };
const NUMBER: JsonObject = { type: 'number' };
const FLAG: JsonObject = { type: 'boolean' };
const ANY: JsonObject = {};
const constant = (value: string): JsonObject => ({ const: value });
const orNull = (schema: JsonObject): JsonObject => ({ anyOf: [schema, { type: 'null' }] });
const list = (items: JsonObject): JsonObject => ({ type: 'array', items });

/** An object that must have every listed property, and may have others. */
const required = (properties: JsonObject, optional: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties: { ...properties, ...optional },
  required: Object.keys(properties),
});

const ANNOTATION = required({
  type: constant('url_citation'),
  url: STRING,
  title: STRING,
  start_index: INTEGER,
  end_index: INTEGER,
});
const OUTPUT_TEXT = required({
  type: constant('output_text'),
  text: STRING,
  annotations: list(ANNOTATION),
  logprobs: list({ type: 'object' }),
});
const REFUSAL = required({ type: constant('refusal'), refusal: STRING });
const SUMMARY_TEXT = required({ type: constant('summary_text'), text: STRING });
const REASONING_TEXT = required({ type: constant('reasoning_text'), text: STRING });
const CONTENT_PART: JsonObject = { anyOf: [OUTPUT_TEXT, REFUSAL, SUMMARY_TEXT, REASONING_TEXT] };
const STATUS: JsonObject = { enum: ['in_progress', 'completed', 'incomplete'] };

const MESSAGE = required(
  {
    type: constant('message'),
    id: STRING,
    status: STATUS,
    role: { enum: ['user', 'assistant', 'system', 'developer'] },
    content: list(CONTENT_PART),
  },
  { phase: { enum: ['commentary', 'final_answer'] } },
);
const FUNCTION_CALL = required({
  type: constant('function_call'),
  id: STRING,
  call_id: STRING,
  name: STRING,
  arguments: STRING,
  status: STATUS,
});
const REASONING = required(
  { type: constant('reasoning'), id: STRING, summary: list(CONTENT_PART) },
  { content: list(CONTENT_PART), encrypted_content: STRING },
);
const COMPACTION = required({ type: constant('compaction'), id: STRING, encrypted_content: STRING });
const ITEM: JsonObject = { anyOf: [MESSAGE, FUNCTION_CALL, REASONING, COMPACTION] };

const USAGE = required({
  input_tokens: INTEGER,
  output_tokens: INTEGER,
  total_tokens: INTEGER,
  input_tokens_details: required({ cached_tokens: INTEGER }),
  output_tokens_details: required({ reasoning_tokens: INTEGER }),
});

const FUNCTION_TOOL = required({
  type: constant('function'),
  name: STRING,
  description: orNull(STRING),
  parameters: orNull({ type: 'object' }),
  strict: orNull(FLAG),
});

/** The response object with every field that Open Responses requires. */
export const RESPONSE = required({
  id: STRING,
  object: constant('response'),
  created_at: INTEGER,
  completed_at: orNull(INTEGER),
  status: STRING,
  incomplete_details: orNull(required({ reason: STRING })),
  model: STRING,
  previous_response_id: orNull(STRING),
  instructions: orNull(STRING),
  output: list(ITEM),
  error: orNull(required({ code: STRING, message: STRING })),
  tools: list(FUNCTION_TOOL),
  tool_choice: { anyOf: [{ enum: ['auto', 'none', 'required'] }, { type: 'object' }] },
  truncation: { enum: ['auto', 'disabled'] },
  parallel_tool_calls: FLAG,
  text: required({ format: { type: 'object' } }),
  top_p: NUMBER,
  presence_penalty: NUMBER,
  frequency_penalty: NUMBER,
  top_logprobs: INTEGER,
  temperature: NUMBER,
  reasoning: orNull(required({}, { effort: orNull(STRING), summary: orNull(STRING) })),
  user: orNull(STRING),
  usage: orNull(USAGE),
  max_output_tokens: orNull(INTEGER),
  max_tool_calls: orNull(INTEGER),
  store: FLAG,
  background: FLAG,
  service_tier: STRING,
  metadata: ANY,
  safety_identifier: orNull(STRING),
  prompt_cache_key: orNull(STRING),
});

/** What `POST /v1/responses/compact` answers. */
export const COMPACTED = required({
  id: STRING,
  object: constant('response.compaction'),
  created_at: INTEGER,
  output: list({ type: 'object' }),
  usage: USAGE,
});

const OF_ITEM: JsonObject = { item_id: STRING, output_index: INTEGER };
const OF_PART: JsonObject = { ...OF_ITEM, content_index: INTEGER };
const OF_SUMMARY: JsonObject = { ...OF_ITEM, summary_index: INTEGER };

const FIELDS: Readonly<Record<string, JsonObject>> = {
  'response.created': { response: RESPONSE },
  'response.queued': { response: RESPONSE },
  'response.in_progress': { response: RESPONSE },
  'response.completed': { response: RESPONSE },
  'response.failed': { response: RESPONSE },
  'response.incomplete': { response: RESPONSE },
  'response.output_item.added': { output_index: INTEGER, item: orNull(ITEM) },
  'response.output_item.done': { output_index: INTEGER, item: orNull(ITEM) },
  'response.content_part.added': { ...OF_PART, part: CONTENT_PART },
  'response.content_part.done': { ...OF_PART, part: CONTENT_PART },
  'response.output_text.delta': { ...OF_PART, delta: STRING },
  'response.output_text.done': { ...OF_PART, text: STRING },
  'response.output_text.annotation.added': { ...OF_PART, annotation_index: INTEGER, annotation: orNull(ANNOTATION) },
  'response.refusal.delta': { ...OF_PART, delta: STRING },
  'response.refusal.done': { ...OF_PART, refusal: STRING },
  'response.function_call_arguments.delta': { ...OF_ITEM, delta: STRING },
  'response.function_call_arguments.done': { ...OF_ITEM, arguments: STRING },
  'response.reasoning.delta': { ...OF_PART, delta: STRING },
  'response.reasoning.done': { ...OF_PART, text: STRING },
  'response.reasoning_summary_part.added': { ...OF_SUMMARY, part: CONTENT_PART },
  'response.reasoning_summary_part.done': { ...OF_SUMMARY, part: CONTENT_PART },
  'response.reasoning_summary_text.delta': { ...OF_SUMMARY, delta: STRING },
  'response.reasoning_summary_text.done': { ...OF_SUMMARY, text: STRING },
  error: { error: required({ type: STRING, code: orNull(STRING), message: STRING, param: orNull(STRING) }) },
};

/** Every event of a stream that Open Responses knows, by its type: an event of another type is none of it. */
export const EVENTS: ReadonlyMap<string, JsonObject> = new Map(
  Object.entries(FIELDS).map(([type, fields]) => [
    type,
    required({ type: constant(type), sequence_number: INTEGER, ...fields }),
  ]),
);
