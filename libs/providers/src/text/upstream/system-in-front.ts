import type { AssistantPart, TextPart, TextRequest, Turn, UserPart } from '#contracts';

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

/** The conversation for a vendor that takes system messages in it, though only between what a user says and what the model replies. */
interface SystemInPlace {
  readonly system: readonly string[];
  readonly turns: readonly Turn[];
}

/**
 * The request with each system message at the end of what the user says around it: so nothing in front of it changes, which vendors
 * check. The first ones go in front; one with no words of a user's around it becomes the user's.
 */
export function withSystemBehindUser(request: TextRequest): SystemInPlace {
  const turns = request.turns.filter(saysSomething);
  const begin = turns.findIndex(({ role }) => role !== 'system');
  if (begin === -1) return withSystemInFront(request);
  const { system } = withSystemInFront({ ...request, turns: [...turns.slice(0, begin), userTurn('')] });
  const placed: Turn[] = [];
  let waiting: TextPart[] = [];
  const place = (): void => {
    if (waiting.length > 0) placed.push({ role: placed.at(-1)?.role === 'user' ? 'system' : 'user', parts: waiting });
    waiting = [];
  };
  for (const turn of turns.slice(begin)) {
    if (turn.role === 'system') waiting.push(...turn.parts);
    else {
      if (turn.role === 'assistant') place();
      placed.push(turn);
    }
  }
  place();
  return { system, turns: placed };
}

type UserTurn = Extract<Turn, { role: 'user' }>;
const userTurn = (text: string): UserTurn => ({ role: 'user', parts: [{ type: 'text', text }] });

/** What stands for the user's words where there are none, or the model spoke first: the least that is no empty text. */
const NO_WORDS = '.';

const saysSomething = ({ parts }: Turn): boolean =>
  (parts as readonly (UserPart | AssistantPart)[]).some((part) => part.type !== 'text' || /\S/.test(part.text));

/** The turns with words of a user's in front, where the interface wants them: it takes no blank ones. */
export const beginningWithUser = <Of extends Turn>(turns: readonly Of[]): readonly (Of | UserTurn)[] =>
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
