import type { AssistantPart, TextRequest, UserPart } from '#contracts';

/** Asks for JSON where there is no switch, or where vendors want to read the word besides. */
export const JSON_IN_WORDS = 'Answer with one JSON object and nothing else.';

/**
 * What must be said besides: vendors of two protocols answer with any JSON only where a message says the word.
 *
 * @param system what else the vendor counts as a message.
 */
export function jsonInWords({ format, turns }: TextRequest, system: readonly string[] = []): string[] {
  if (format.type !== 'json') return [];
  const parts = turns.flatMap<UserPart | AssistantPart>((turn) => turn.parts);
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return [...system, ...texts].some((text) => /json/i.test(text)) ? [] : [JSON_IN_WORDS];
}
