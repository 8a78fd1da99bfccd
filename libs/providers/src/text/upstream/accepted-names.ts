import { createHash } from 'node:crypto';
import type { AssistantPart, TextEvent, TextRequest, ToolChoice, Turn, UserPart } from '#contracts';
import type { ProtocolCodec } from './protocol-codec.js';

/** What names of functions the vendors of each protocol take. */
const NAME_RULES: Readonly<Record<ProtocolCodec['protocol'], RegExp>> = {
  chat: /^[\w-]{1,64}$/,
  responses: /^[\w-]{1,64}$/,
  messages: /^[\w-]{1,128}$/,
  gemini: /^[a-zA-Z_][\w.:-]{0,63}$/,
};

const HASH_CHARACTERS = 8;
const READABLE_CHARACTERS = 48;

/** A request with names that the vendors of a protocol take, and what the caller calls the functions whose names they do not take. */
interface NamedRequest {
  readonly request: TextRequest;
  /** The caller's names by those that the upstream gets; empty where they are the same. */
  readonly ownNames: ReadonlyMap<string, string>;
}

/** The name that the upstream gets for a function: its own wherever the protocol takes it. The same in every turn, for the prompt cache. */
function acceptedName(name: string, rule: RegExp): string {
  if (rule.test(name)) return name;
  const readable = name.replaceAll(/[^\w-]/g, '_').slice(0, READABLE_CHARACTERS);
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARACTERS);
  return `f_${readable}_${hash}`;
}

const NONE: NamedRequest['ownNames'] = new Map();

/** The request with functions named as the protocol takes them, in its tools as in its turns. */
export function withAcceptedNames(request: TextRequest, protocol: ProtocolCodec['protocol']): NamedRequest {
  const rule = NAME_RULES[protocol];
  const named = [...request.tools, ...request.turns.flatMap(namedParts)];
  const refused = new Set(named.map(({ name }) => name).filter((name) => !rule.test(name)));
  if (refused.size === 0) return { request, ownNames: NONE };
  const accepted = new Map([...refused].map((name) => [name, acceptedName(name, rule)]));
  const ownNames = new Map([...accepted].map(([name, taken]) => [taken, name]));
  const rename = <Named extends { readonly name: string }>(one: Named): Named => ({
    ...one,
    name: accepted.get(one.name) ?? one.name,
  });
  const tools = request.tools.map(rename);
  const turns = request.turns.map(
    (turn) =>
      ({
        ...turn,
        parts: (turn.parts as readonly Part[]).map((part) => (isNamed(part) ? rename(part) : part)),
      }) as Turn,
  );
  return { request: { ...request, tools, turns, toolChoice: chosen(request.toolChoice, rule) }, ownNames };
}

type Part = UserPart | AssistantPart;

const isNamed = (part: Part): part is Extract<Part, { type: 'call' | 'result' }> =>
  part.type === 'call' || part.type === 'result';

const namedParts = ({ parts }: Turn): Extract<Part, { type: 'call' | 'result' }>[] =>
  (parts as readonly Part[]).filter(isNamed);

const chosen = (choice: ToolChoice, rule: RegExp): ToolChoice =>
  choice.mode === 'required' ? { ...choice, names: choice.names.map((name) => acceptedName(name, rule)) } : choice;

/** The events of a reply, its calls named as the caller names its functions. */
export function inOwnNames(events: readonly TextEvent[], ownNames: NamedRequest['ownNames']): readonly TextEvent[] {
  if (ownNames.size === 0) return events;
  return events.map((event) =>
    event.type === 'call' ? { ...event, name: ownNames.get(event.name) ?? event.name } : event,
  );
}
