import { deepStrictEqual, ok } from 'node:assert/strict';
import fc from 'fast-check';
import {
  ChatRequest,
  checkBody,
  GeminiRequest,
  type JsonObject,
  MessagesRequest,
  type ReplyBlock,
  ResponsesRequest,
  type TextRequest,
  TEXT_STYLES,
  type TextStyle,
  type UserPart,
} from '#contracts';
import { wellFormedJson } from '#platform';
import { PROTOCOL_CODECS } from '#providers';
import { chatStyle } from './chat/chat-style.js';
import { geminiEventStyle } from './gemini/gemini-style.js';
import { messagesStyle } from './messages/messages-style.js';
import { responsesStyle } from './responses/responses-style.js';
import { type Conversation, conversations, type Round } from './testing/conversations.js';
import type { TextStyleCodec } from './text-style-codec.js';

/** A style: how its bodies are checked and read, and where a client puts what was answered before. */
interface Spoken {
  readonly codec: TextStyleCodec<never>;
  readonly type: abstract new () => object;
  /** The field of a body that holds the turns. */
  readonly turns: string;
  /** The turns that a client makes of an answer. */
  readonly replayed: (answer: never) => readonly JsonObject[];
}

const STYLES: Readonly<Record<TextStyle, Spoken>> = {
  responses: {
    codec: responsesStyle,
    type: ResponsesRequest,
    turns: 'input',
    replayed: ({ output }: { output: JsonObject[] }) => output,
  },
  chat: {
    codec: chatStyle,
    type: ChatRequest,
    turns: 'messages',
    replayed: ({ choices }: { choices: { message: JsonObject }[] }) => choices.map(({ message }) => message),
  },
  messages: {
    codec: messagesStyle,
    type: MessagesRequest,
    turns: 'messages',
    replayed: ({ role, content }: { role: string; content: JsonObject[] }) => [{ role, content }],
  },
  gemini: {
    codec: geminiEventStyle,
    type: GeminiRequest,
    turns: 'contents',
    replayed: ({ candidates }: { candidates: { content: JsonObject }[] }) => candidates.map(({ content }) => content),
  },
};

const LEAST: TextRequest = {
  model: 'm',
  stream: false,
  system: [],
  turns: [],
  tools: [],
  hostedTools: [],
  toolChoice: { mode: 'auto' },
  parallelToolCalls: true,
  format: { type: 'text' },
  stopSequences: [],
};

const written = (protocol: TextStyle, request: Partial<TextRequest>, model = 'm'): JsonObject =>
  PROTOCOL_CODECS[protocol].write({ ...LEAST, ...request }, model, { marksPromptCache: false });

/** The body as its bytes say it. */
const sent = (body: JsonObject): JsonObject => JSON.parse(wellFormedJson(JSON.stringify(body))) as JsonObject;

/** The body in which a client of the style has the conversation, the answers as the gateway gave them. */
function bodyOf(style: TextStyle, { system, rounds }: Conversation): JsonObject {
  const { turns, replayed } = STYLES[style];
  const said = rounds.flatMap(({ said: parts, answered }) => [
    ...(written(style, { turns: [{ role: 'user', parts }] })[turns] as JsonObject[]),
    ...replayed(answerIn(style, answered) as never),
  ]);
  const first = written(style, { system, turns: [{ role: 'user', parts: [] }] });
  // Chat alone has its system messages among the turns.
  const opening = style === 'chat' ? (first[turns] as JsonObject[]).filter(({ role }) => role === 'system') : [];
  return { ...first, [turns]: [...opening, ...said] };
}

function answerIn(style: TextStyle, answered: Round['answered']): JsonObject {
  const blocks = answered.map((part): ReplyBlock => part);
  const context = {
    requestId: 'req_1',
    model: 'm',
    body: { model: 'm', input: '', messages: [], contents: [] } as never,
    createdSeconds: 0,
    estimatedInputTokens: 0,
    onAnswer: () => {},
  };
  const finish = { type: 'finish' as const, reason: 'stop' as const };
  return JSON.parse(STYLES[style].codec.answer({ blocks, finish }, context)) as JsonObject;
}

function read(style: TextStyle, body: JsonObject): TextRequest {
  deepStrictEqual(checkBody(STYLES[style].type, body), []);
  return STYLES[style].codec.read(body as never, 'm', false);
}

/** The turns as rounds: all that a user says in a row, and all that is answered in a row. */
function roundsOf({ turns }: Pick<TextRequest, 'turns'>): Round[] {
  const rounds: { said: UserPart[]; answered: Round['answered'][number][] }[] = [];
  let last: string | undefined;
  for (const turn of turns) {
    if (turn.role === 'system') continue;
    if (turn.role === 'user' && last !== 'user') rounds.push({ said: [], answered: [] });
    last = turn.role;
    if (turn.role === 'user') rounds.at(-1)?.said.push(...turn.parts);
    else rounds.at(-1)?.answered.push(...turn.parts);
  }
  return rounds;
}

const joined = (texts: readonly string[]): string => sendable(texts.join('').replaceAll(/\s+/g, ''));

/** The text as it is sent where it is translated. */
const sendable = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD');

const sendableStrings = (_key: string, value: unknown): unknown =>
  typeof value === 'string' ? sendable(value) : value;

/** The words of a reply, those that refuse too: on the way back they are a text. */
const wordsOf = (parts: Round['answered']): string[] =>
  parts.flatMap((part) => (part.type === 'text' || part.type === 'refusal' ? [part.text] : []));

/** What any two interfaces can both say of a round, and in no finer order than the coarser of them has. */
function heard({ said, answered }: Round) {
  const results = said.filter((part) => part.type === 'result');
  const media = [...said, ...results.flatMap(({ content }) => content)];
  const sources = media.flatMap((part) =>
    part.type === 'image' || part.type === 'file' ? [JSON.stringify(part.source)] : [],
  );
  return {
    said: joined(said.flatMap((part) => (part.type === 'text' ? [part.text] : []))),
    media: sources.toSorted(),
    results: results.map(({ callId, content, isError }) => {
      const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
      const text = joined(texts).replaceAll(/\[(image|file)below\]/g, '');
      return [callId, text.replace(/^Error:/, ''), isError || text.startsWith('Error:')] as const;
    }),
    answered: joined(wordsOf(answered)),
    calls: answered.flatMap((part) =>
      part.type === 'call' ? [[part.id, part.name, argumentsIn(part.arguments)]] : [],
    ),
  };
}

/**
 * The reasoning of a round with its proof, which a vendor wants to have back as it gave it: as far as the style has a place
 * for it, and sorted, because one style has none for the order of texts and calls.
 */
function thoughts({ answered }: Round, style: TextStyle, protocol: TextStyle): readonly (readonly [string, string])[] {
  const calls = answered.some(({ type }) => type === 'call');
  // Chat vendors prove nothing, and take reasoning back beside calls alone.
  if (protocol === 'chat' && !calls) return [];
  const proven = answered.flatMap((part, place) => {
    if (part.type !== 'reasoning' || (protocol !== 'chat' && part.signature === undefined)) return [];
    // In a chat message there is one text, so that of several texts that are proven each for itself one proof is left.
    if (style === 'chat' && protocol === 'gemini' && answered[place + 1]?.type !== 'call') return [];
    const proof = protocol === 'chat' ? '' : (part.signature ?? '').replace(/^\w+:/, '');
    return [[protocol === 'gemini' ? '' : sendable(part.text), proof] as const];
  });
  return proven.toSorted((one, other) => one.join(' ').localeCompare(other.join(' ')));
}

/** Whether reasoning leads to a text without words, of which a chat message has no trace, so that its proof may move. */
const provesNothing = ({ answered }: Round): boolean =>
  answered.some(({ type }, place) => {
    const next = answered[place + 1];
    return type === 'reasoning' && next?.type === 'text' && next.text.trim() === '';
  });

const argumentsIn = (json: string): unknown => JSON.parse(JSON.stringify(JSON.parse(json), sendableStrings));

/** Conversations of each pair; ROUND_TRIPS=20000 for the long form. */
const CONVERSATIONS = Number(process.env['ROUND_TRIPS'] ?? 100);

/** What breaks a property. Its parts are compared without `expect`, which takes longer to say what is expected than all else. */
const counterexample = <Values>(property: fc.IProperty<Values>): string | undefined =>
  fc.defaultReportMessage(fc.check(property, { numRuns: CONVERSATIONS }));

const PAIRS = TEXT_STYLES.flatMap((style) => TEXT_STYLES.map((protocol) => [style, protocol] as const));

describe('A conversation keeps every part that both ends support', () => {
  it.each(PAIRS)('of a %s client with a %s upstream', (style, protocol) => {
    const property = fc.property(conversations(protocol), (conversation) => {
      const { rounds, system } = conversation;
      const isLoose = style === 'chat' && protocol === 'gemini';
      const proofs = (read: readonly Round[]) =>
        read.map((round, place) =>
          isLoose && rounds[place] && provesNothing(rounds[place]) ? [] : thoughts(round, style, protocol),
        );
      const request = read(style, bodyOf(style, conversation));
      deepStrictEqual(roundsOf(request).map(heard), rounds.map(heard));
      deepStrictEqual(proofs(roundsOf(request)), proofs(rounds));
      const sentOn = read(protocol, sent(written(protocol, request)));
      deepStrictEqual(joined(sentOn.system), joined(system));
      deepStrictEqual(roundsOf(sentOn).map(heard), rounds.map(heard));
      deepStrictEqual(proofs(roundsOf(sentOn)), proofs(rounds));
    });
    expect(counterexample(property)).toBeUndefined();
  });
});

/** What an upstream is sent for the first turns of a conversation: all before its list of turns, and that list, as bytes. */
function translatedTurns(
  style: TextStyle,
  [protocol, model]: readonly [TextStyle, string],
  { system, rounds }: Conversation,
) {
  const last = rounds.at(-1);
  const before = bodyOf(style, { system, rounds: rounds.slice(0, -1) });
  const { turns } = STYLES[style];
  const said = written(style, { turns: [{ role: 'user', parts: last?.said ?? [] }] })[turns] as JsonObject[];
  const body = { ...before, [turns]: [...(before[turns] as JsonObject[]), ...said] };
  const { [STYLES[protocol].turns]: list, ...others } = written(protocol, read(style, body), model);
  return { others, list: wellFormedJson(JSON.stringify(list)).slice(0, -1) };
}

describe('A conversation that goes on is sent with the bytes of before in front, so that prompt caches and proofs hold', () => {
  // Models of which more is asked than of others.
  const newest = [['gemini', 'gemini-3-pro-preview'] as const, ['messages', 'claude-opus-4-8'] as const];
  const upstreams = [...TEXT_STYLES.map((protocol) => [protocol, 'm'] as const), ...newest];
  const all = TEXT_STYLES.flatMap((style) => upstreams.map(([protocol, model]) => [style, protocol, model] as const));

  it.each(all)('of a %s client with a %s upstream and its model %s', (style, protocol, model) => {
    const property = fc.property(conversations(protocol), ({ system, rounds }) => {
      const sentTurns = rounds.map((_round, place) =>
        translatedTurns(style, [protocol, model], { system, rounds: rounds.slice(0, place + 1) }),
      );
      for (const [place, { others, list }] of sentTurns.entries()) {
        const next = sentTurns[place + 1];
        if (next === undefined) continue;
        deepStrictEqual(next.others, others);
        ok(next.list.startsWith(list), next.list);
      }
    });
    expect(counterexample(property)).toBeUndefined();
  });
});
