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
  /** The former form of a call. */
  readonly function_call?: Call | null;
  readonly tool_calls?: readonly { readonly function?: Call | null; readonly custom?: Call | null }[] | null;
}

interface Chunk {
  readonly choices?: readonly { readonly delta?: Spoken | null; readonly message?: Spoken | null }[] | null;
}

/** What one chunk says in any of its replies. */
export function producedInChat(chunk: JsonObject & Chunk): string {
  return (chunk.choices ?? []).map(({ delta, message }) => spoken(delta ?? message ?? {})).join('');
}

function spoken({ content, refusal, reasoning_content: thought, reasoning, ...calls }: Spoken): string {
  const called = [calls.function_call, ...(calls.tool_calls ?? []).flatMap((call) => [call.function, call.custom])];
  return [content, refusal, thought ?? reasoning, ...called.flatMap((call) => [asText(call?.arguments), call?.input])]
    .map(textIn)
    .join('');
}

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
