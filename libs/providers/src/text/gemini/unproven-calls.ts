import { isJsonObject, type JsonObject, type JsonValue } from '#contracts';
import { wantsProofs } from './model-generations.js';

/** What the vendor documents as the proof of a call that another model made. */
const MADE_ELSEWHERE = 'skip_thought_signature_validator';

/** The contents with a proof at each call that wants one and has none: a conversation may come from another vendor. */
export function withCallsProven(contents: readonly JsonValue[], model: string): readonly JsonValue[] {
  if (!wantsProofs(model)) return contents;
  const turn = contents.findLastIndex(isNewTurn);
  return contents.map((content, place) => (place > turn && isJsonObject(content) ? withFirstProven(content) : content));
}

const partsOf = (content: JsonValue): readonly JsonValue[] =>
  isJsonObject(content) && Array.isArray(content['parts']) ? (content['parts'] as readonly JsonValue[]) : [];

const holds = (part: JsonValue, name: string): part is JsonObject => isJsonObject(part) && part[name] != null;

/** A turn continues while functions return, and begins with what a user says. */
const isNewTurn = (content: JsonValue): boolean =>
  isJsonObject(content) &&
  content['role'] !== 'model' &&
  !partsOf(content).some((part) => holds(part, 'functionResponse') || holds(part, 'function_response'));

/** Of calls that were made at once, the first has the proof of all. */
function withFirstProven(content: JsonObject): JsonObject {
  const parts = partsOf(content);
  const first = parts.findIndex((part) => holds(part, 'functionCall') || holds(part, 'function_call'));
  const call = parts[first];
  const isProven = isJsonObject(call) && (call['thoughtSignature'] ?? call['thought_signature']) != null;
  if (!isJsonObject(call) || isProven) return content;
  const proven: JsonObject = { ...call, thoughtSignature: MADE_ELSEWHERE };
  return { ...content, parts: parts.with(first, proven) };
}
