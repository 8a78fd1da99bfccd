import type { AssistantPart, TextRequest, Turn, UserPart } from '#contracts';

/** The conversation for a vendor that takes system messages only in front of it. */
interface SystemInFront {
  readonly system: readonly string[];
  readonly turns: readonly Exclude<Turn, { role: 'system' }>[];
}

/** The request with all that the system says in front of the conversation; where there is no other message, its last text becomes the user's. */
export function withSystemInFront({ system, turns }: TextRequest): SystemInFront {
  const others = turns.filter((turn) => turn.role !== 'system');
  const said = turns.flatMap((turn) => (turn.role === 'system' ? turn.parts.map(({ text }) => text) : []));
  const all = [...system, ...said];
  if (others.length > 0) return { system: all, turns: others };
  const text = all.pop();
  return { system: all, turns: text === undefined ? [] : [userTurn(text)] };
}

const userTurn = (text: string): Extract<Turn, { role: 'user' }> => ({ role: 'user', parts: [{ type: 'text', text }] });

/** What stands for the user's words where there are none, or the model spoke first: the least that is no empty text. */
const NO_WORDS = '.';

const saysSomething = ({ parts }: SystemInFront['turns'][number]): boolean =>
  (parts as readonly (UserPart | AssistantPart)[]).some((part) => part.type !== 'text' || /\S/.test(part.text));

/** The turns with words of a user's in front, where the interface wants them: it takes no blank ones. */
export const beginningWithUser = (turns: SystemInFront['turns']): SystemInFront['turns'] =>
  turns.find(saysSomething)?.role === 'user' ? turns : [userTurn(NO_WORDS), ...turns];

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
