import type { TextRequest } from '#contracts';
import { jsonPieces, nextTurn } from '#platform';

/** What a message costs beyond its text: role and separators. */
const TOKENS_PER_TURN = 4;

/** Images are charged by size; without looking inside, each counts as an image of 1024 x 1024. */
const TOKENS_PER_IMAGE = 765;

/** Counts tokens with a real tokenizer, in time proportional to the text whatever the text is. */
export interface TokenCounter {
  /** Tokens of a text, at once: meant for replies and words. */
  count(text: string): number;
  /** Tokens of a text of any length, while other work runs in between. */
  countLong(text: string): Promise<number>;
  /** Input tokens of a whole request: prompts, turns, tools, images. Other work runs in between. */
  countRequest(request: TextRequest): Promise<{ readonly inputTokens: number; readonly imageTokens: number }>;
}

type CountTokens = (text: string) => number;

/** Longest text that is counted before other work may run. */
const SLICE_CHARACTERS = 8_192;

/**
 * Text without a blank, or blanks without text, longer than a tokenizer takes quickly: it needs quadratic time for them.
 * They are cut into pieces of this many characters, which costs a token per cut at most.
 */
const LONG_RUN = /(\S{129,}|\s{129,})/u;
const RUN_PIECE = /[^]{1,128}/gu;

/** Pieces that a tokenizer takes quickly. */
function easyPieces(slice: string): string[] {
  // Every second part is what the pattern captured: a long run.
  return slice.split(LONG_RUN).flatMap((part, index) => (index % 2 === 0 ? part : (part.match(RUN_PIECE) ?? [])));
}

function* slices(text: string): Generator<string> {
  for (let start = 0; start < text.length; start += SLICE_CHARACTERS) yield text.slice(start, start + SLICE_CHARACTERS);
}

/** How many texts are put together at most before they are counted, in characters. */
const JOINED_CHARACTERS = 64 * 1024;

/** The text of a request that a tokenizer can count, as one text of many pieces: it may be as long as a body. */
export function* countableText({ system, turns, tools }: TextRequest): Generator<string> {
  let joined = '';
  for (const text of textsOf(system, turns, tools)) {
    joined = joined === '' ? text : `${joined}\n${text}`;
    if (joined.length < JOINED_CHARACTERS) continue;
    yield joined;
    joined = '';
  }
  if (joined !== '') yield joined;
}

function* textsOf(
  system: TextRequest['system'],
  turns: TextRequest['turns'],
  tools: TextRequest['tools'],
): Generator<string> {
  yield* system;
  for (const part of mediaOf(turns)) {
    if (part.type === 'call') yield* [part.name, part.arguments];
    else if (part.type === 'text' || part.type === 'reasoning') yield part.text;
  }
  for (const tool of tools) yield* jsonPieces(tool);
}

const mediaOf = (turns: TextRequest['turns']) =>
  turns.flatMap((turn) => turn.parts.flatMap((part) => (part.type === 'result' ? part.content : part)));

function createCounter(countTokens: CountTokens): TokenCounter {
  const countSlice = (slice: string): number => easyPieces(slice).reduce((sum, piece) => sum + countTokens(piece), 0);
  const countLong = async (text: string): Promise<number> => {
    let tokens = 0;
    for (const slice of slices(text)) {
      tokens += countSlice(slice);
      if (slice.length === SLICE_CHARACTERS) await nextTurn();
    }
    return tokens;
  };
  return {
    count: (text) => {
      let tokens = 0;
      for (const slice of slices(text)) tokens += countSlice(slice);
      return tokens;
    },
    countLong,
    countRequest: async (request) => {
      const images = mediaOf(request.turns).filter(({ type }) => type === 'image' || type === 'file');
      const imageTokens = images.length * TOKENS_PER_IMAGE;
      let inputTokens = (request.turns.length + request.system.length) * TOKENS_PER_TURN + imageTokens;
      for (const text of countableText(request)) inputTokens += await countLong(text);
      return { inputTokens, imageTokens };
    },
  };
}

let loading: Promise<TokenCounter> | undefined;

/** The counter, loaded on first use: its vocabulary takes 40 MB that a gateway with honest upstreams never needs. */
export function loadTokenCounter(): Promise<TokenCounter> {
  loading ??= import('gpt-tokenizer/encoding/cl100k_base').then(({ countTokens }) =>
    // Text that looks like a control token is text: the caller's words control nothing here.
    createCounter((text) => countTokens(text, { allowedSpecial: new Set(), disallowedSpecial: new Set() })),
  );
  return loading;
}
