import type { AssistantPart, CallPart, ResultPart } from '#contracts';
import { type JsonTexts, parsedObject } from '#platform';

/** How a proof begins that the gateway gave itself. It names no protocol, so that no vendor is ever sent it. */
const MARK = 'gateway:';

/** A call and its result, as they are packed: id, name, arguments, words, whether it failed. */
type Packed = readonly [string, string, string, string, boolean];

/** The text of an assistant's turn, and the results of the calls in it that the gateway ran. */
export interface Unpacked {
  readonly said: readonly AssistantPart[];
  readonly results: readonly ResultPart[];
}

/**
 * Calls that the gateway ran in a turn that ends with calls of the caller's functions, in the form of a proof: clients send
 * proofs back with the turn, and so the next request knows what the gateway found. Of images only that there were any.
 *
 * @param parts the turn; @param results of the calls in it that the gateway ran, and that the answer does not show.
 * @returns undefined where there are none.
 */
export function carriedResults(parts: readonly AssistantPart[], results: readonly ResultPart[]): string | undefined {
  if (results.length === 0) return undefined;
  const calls = new Map(parts.flatMap((part) => (part.type === 'call' ? [[part.id, part] as const] : [])));
  const packed = results.map(({ callId, name, content, isError }): Packed => {
    const words = content.map((part) => (part.type === 'text' ? part.text : '[image]')).join('\n');
    return [callId, name, calls.get(callId)?.arguments ?? '{}', words, isError];
  });
  return MARK + Buffer.from(JSON.stringify(packed)).toString('base64url');
}

/**
 * The turn with the calls that such proofs carry in their place. A proof that cannot be read is left out.
 *
 * @param texts of the whole request.
 */
export function unpackResults(parts: readonly AssistantPart[], texts: JsonTexts): Unpacked {
  const results: ResultPart[] = [];
  const said = parts.flatMap((part): AssistantPart[] => {
    if (part.type !== 'reasoning' || part.signature?.startsWith(MARK) !== true) return [part];
    return unpacked(part.signature.slice(MARK.length), texts).map(([id, name, json, text, isError]): CallPart => {
      results.push({ type: 'result', callId: id, name, content: [{ type: 'text', text }], isError });
      return { type: 'call', id, name, arguments: json };
    });
  });
  return { said, results };
}

const isPacked = (value: unknown): value is Packed =>
  Array.isArray(value) &&
  value.length === 5 &&
  value.slice(0, 4).every((entry) => typeof entry === 'string') &&
  typeof value[4] === 'boolean' &&
  // A vendor would refuse arguments that are no object.
  parsedObject(String(value[2])) !== undefined;

/** Empty for what is not ours: a caller may send anything. */
function unpacked(packed: string, texts: JsonTexts): readonly Packed[] {
  try {
    const value = texts.parsePacked(packed);
    return Array.isArray(value) && value.every(isPacked) ? value : [];
  } catch {
    return [];
  }
}
