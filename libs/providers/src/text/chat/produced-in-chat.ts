import type { JsonObject, JsonValue } from '#contracts';

interface Call {
  readonly arguments?: JsonValue;
  readonly input?: JsonValue;
}

interface Spoken {
  readonly content?: JsonValue;
  readonly refusal?: JsonValue;
  readonly reasoning_content?: JsonValue;
  readonly reasoning?: JsonValue;
  /** The legacy form of a call. */
  readonly function_call?: Call | null;
  readonly tool_calls?: readonly { readonly function?: Call | null; readonly custom?: Call | null }[] | null;
}

interface Chunk {
  readonly choices?: readonly { readonly delta?: Spoken | null; readonly message?: Spoken | null }[] | null;
}

/** What one chunk says in any of its replies. */
export function producedInChat(chunk: JsonObject & Chunk): string {
  let text = '';
  for (const { delta, message } of chunk.choices ?? []) text += spoken(delta ?? message ?? {});
  return text;
}

/** Plain additions: this runs once a token. */
function spoken({
  content,
  refusal,
  reasoning_content: thought,
  reasoning,
  function_call,
  tool_calls,
}: Spoken): string {
  let text = textIn(content) + textIn(refusal) + textIn(thought ?? reasoning) + calledIn(function_call);
  for (const call of tool_calls ?? []) text += calledIn(call.function) + calledIn(call.custom);
  return text;
}

const calledIn = (call: Call | null | undefined): string =>
  call ? textIn(asText(call.arguments)) + textIn(call.input) : '';

/** Some servers write arguments as an object. */
const asText = (value: JsonValue | undefined): JsonValue | undefined =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : value;

/** A text, or the texts of parts, however deep vendors pack them. */
function textIn(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(textIn).join('');
  if (typeof value !== 'object' || value === null) return '';
  const { text, thinking } = value as JsonObject;
  return textIn(text) + textIn(thinking);
}
