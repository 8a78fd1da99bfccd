import { parseBounded } from '#platform';

/** Characters of the words in front, at most. */
const MOST_IN_FRONT = 160;

/** Words of servers that hand on what another one said. In any other sentence JSON may be the caller's own. */
const IN_FRONT =
  /^(?:an?|api|bad|b|code|failed|from|http|litellm|provider|remote|response|returned|server|status|status_code|upstream|vendor|with|[45]\d\d|[\w.]{0,60}(?:error|exception))$/i;

/**
 * What another server said, out of a sentence that hands it on as JSON: `{"error":{…}}`, `upstream error: status_code=400, {"error":{…}}`,
 * `litellm.BadRequestError: AnthropicException - {…}. Received Model Group=…`. Undefined: the sentence is none of these.
 */
export function handedOn(sentence: string): unknown {
  const start = sentence.search(/[[{]/);
  if (start === -1 || start > MOST_IN_FRONT) return undefined;
  const words = sentence.slice(0, start).split(/[\s:;,=()'"-]+|\.\s/);
  if (!words.every((word) => word === '' || IN_FRONT.test(word))) return undefined;
  const end = sentence.lastIndexOf(sentence[start] === '{' ? '}' : ']');
  try {
    return parseBounded(sentence.slice(start, end + 1));
  } catch {
    return undefined;
  }
}
