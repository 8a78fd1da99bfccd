import { createHash, type Hash } from 'node:crypto';
import { isJsonObject, type TextStyle } from '#contracts';
import { TO_BILLING } from './messages/read-messages-request.js';

/** Headers as Node has them: names in lower case. */
export type NamedHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The longest name of a session, in characters. */
const LONGEST_NAME = 256;

/** Headers in which agents name their session, the first that is there wins: Claude Code, Codex (two spellings), routers, opencode. */
const SESSION_HEADERS = [
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'x-session-id',
  'x-session-affinity',
  'x-opencode-session',
] as const;

/** Older Claude Code ends `metadata.user_id` like this. */
export const IN_USER_ID = /_session_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;
const LONGEST_USER_ID = 4_096;

/**
 * The session that a request belongs to, as its client names it: in a header, else in the body. A value that cannot be a name is passed
 * over. Users and safety identifiers are persons, who have many sessions.
 *
 * @param body of any style, as it was sent.
 */
export function sessionOf(headers: NamedHeaders, body: unknown): string | undefined {
  for (const header of SESSION_HEADERS) {
    const named = nameIn(headers[header]);
    if (named !== undefined) return named;
  }
  if (!isJsonObject(body)) return undefined;
  const { metadata, session_id: session, prompt_cache_key: cacheKey } = body;
  return (
    (isJsonObject(metadata) ? sessionInUserId(metadata['user_id']) : undefined) ?? nameIn(session) ?? nameIn(cacheKey)
  );
}

const UNPRINTABLE = /[\p{Cc}\p{Cs}]/u;

/** Whether what a client sent can be kept as a name. `most`: characters. */
export const isName = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.length <= most && value.trim() !== '' && !UNPRINTABLE.test(value);

const nameIn = (value: unknown): string | undefined => (isName(value, LONGEST_NAME) ? value : undefined);

function sessionInUserId(userId: unknown): string | undefined {
  if (typeof userId !== 'string' || userId.length > LONGEST_USER_ID) return undefined;
  if (!userId.startsWith('{')) return IN_USER_ID.exec(userId)?.[1];
  try {
    return nameIn((JSON.parse(userId) as { session_id?: unknown }).session_id);
  } catch {
    return undefined;
  }
}

/** A request, for finding the conversation that it goes on with. */
interface ConversationTurn {
  readonly accountId: string;
  /** By its public name. */
  readonly model: string;
  readonly style: TextStyle;
  /** What `sessionOf` found. */
  readonly session: string | undefined;
  /** Checked, of the style. */
  readonly body: object;
}

/** The conversation of a request. */
export interface ConversationKey {
  /** 128 bits of a hash, in which no value of the caller's can be read. Those of two accounts, and of two models, differ. */
  readonly key: string;
  /** False: it was told by its beginning, and holds no turn of the model yet, so that any number of requests may be equal to it. */
  readonly isKnown: boolean;
}

/** Undefined where nothing tells one conversation from another. */
export function conversationKey({
  accountId,
  model,
  style,
  session,
  body,
}: ConversationTurn): ConversationKey | undefined {
  const hash = createHash('sha256');
  add(hash, accountId);
  add(hash, model);
  if (session !== undefined) {
    add(hash, session);
    return { key: shortened(hash), isKnown: true };
  }
  const { system, turns } = beginningOf(style, body as Readonly<Record<string, unknown>>);
  const said = turns.find(isOfUser);
  if (said === undefined) return undefined;
  // Tools are left out: agents load more of them in the middle of a conversation.
  add(hash, style);
  add(hash, system);
  addAll(hash, said['content'] ?? said['parts'], { left: LONGEST_MESSAGE });
  return { key: shortened(hash), isKnown: turns.some(isOfModel) };
}

const KEY_BYTES = 16;
const shortened = (hash: Hash): string => hash.digest().toString('hex', 0, KEY_BYTES);

/** With its length, so that no two sequences of texts make the same hash. */
function add(hash: Hash, text: string): void {
  hash.update(`${text.length}:`);
  hash.update(text);
}

/** Enough of instructions to tell one agent from another, in characters. */
const LONGEST_SYSTEM = 2_048;
/** What is looked at of the first message, in characters: files in it may be long. */
const LONGEST_MESSAGE = 256 * 1024;
/** What is looked at of one text in it. */
const LONGEST_TEXT = 64 * 1024;

/** Marks of the prompt cache move from turn to turn, and are no part of what is said. */
const UNSAID = new Set(['cache_control', 'prompt_cache_breakpoint']);

/** All texts in a value, and how long each is, up to a bound. */
function addAll(hash: Hash, value: unknown, room: { left: number }): void {
  if (room.left <= 0) return;
  if (typeof value === 'string') {
    const looked = value.slice(0, Math.min(LONGEST_TEXT, room.left));
    room.left -= looked.length;
    hash.update(`${value.length}:`);
    hash.update(looked);
  } else if (Array.isArray(value)) for (const entry of value) addAll(hash, entry, room);
  else if (isJsonObject(value)) {
    for (const name of Object.keys(value)) if (!UNSAID.has(name)) addAll(hash, value[name], room);
  }
}

type Turn = Readonly<Record<string, unknown>>;

interface Beginning {
  readonly system: string;
  readonly turns: readonly Turn[];
}

const SYSTEM_ROLES: ReadonlySet<unknown> = new Set(['system', 'developer']);
const MODEL_ROLES: ReadonlySet<unknown> = new Set(['assistant', 'model']);
/** Items of the responses style that only a model can have caused. */
const MODEL_ITEMS: ReadonlySet<unknown> = new Set(['reasoning', 'function_call', 'custom_tool_call', 'compaction']);

/** One style lets the role of a user be left out. */
const isOfUser = ({ role, type, parts }: Turn): boolean =>
  role === 'user' || (role === undefined && type === undefined && Array.isArray(parts));

const isOfModel = ({ role, type }: Turn): boolean => MODEL_ROLES.has(role) || MODEL_ITEMS.has(type);

function beginningOf(style: TextStyle, body: Readonly<Record<string, unknown>>): Beginning {
  const turns = turnsOf(body[style === 'responses' ? 'input' : style === 'gemini' ? 'contents' : 'messages']);
  const texts: string[] = [];
  takeTexts(body[SYSTEM_FIELD[style]], texts);
  for (const turn of turns) {
    if (!SYSTEM_ROLES.has(turn['role'])) break;
    takeTexts(turn['content'], texts);
  }
  return { system: texts.join('\n').slice(0, LONGEST_SYSTEM), turns };
}

const SYSTEM_FIELD: Readonly<Record<TextStyle, string>> = {
  responses: 'instructions',
  messages: 'system',
  gemini: 'systemInstruction',
  chat: 'system',
};

const turnsOf = (sent: unknown): readonly Turn[] => {
  if (typeof sent === 'string') return [{ role: 'user', content: sent }];
  return Array.isArray(sent) ? sent.filter(isJsonObject) : [];
};

/** The texts of instructions. The line that Claude Code puts in front for its vendor may change with every request. */
function takeTexts(value: unknown, texts: string[]): void {
  if (texts.length > 0 && texts.join('\n').length >= LONGEST_SYSTEM) return;
  if (typeof value === 'string') {
    const text = value.slice(0, 2 * LONGEST_SYSTEM).replace(TO_BILLING, '');
    if (text !== '') texts.push(text);
  } else if (Array.isArray(value)) for (const entry of value) takeTexts(entry, texts);
  else if (isJsonObject(value)) takeTexts(value['text'] ?? value['parts'] ?? value['content'], texts);
}
