import type { MediaSource, TextRequest } from '#contracts';
import { BufferSource, decodedBase64, inspectMedia } from '#media';
import { jsonPieces, nextTurn } from '#platform';

/** What a message costs beyond its text: role and separators. */
const TOKENS_PER_TURN = 4;

/** An image counts by the tiles that cover it. It is made smaller first: into a square, then until its shorter side is short enough. In pixels. */
const TILES = { side: 512, square: 2_048, shorterSide: 768, tokens: 170, tokensOfAny: 85 };

function tokensOfSize(width: number, height: number): number {
  const scale = Math.min(1, TILES.square / Math.max(width, height), TILES.shorterSide / Math.min(width, height));
  const tiles = [width, height].map((side) => Math.max(1, Math.ceil(Math.round(side * scale) / TILES.side)));
  return TILES.tokensOfAny + TILES.tokens * tiles.reduce((product, count) => product * count, 1);
}

/** What is not here, or cannot be read, counts as an image of 1024 x 1024. */
const TOKENS_OF_UNSEEN = tokensOfSize(1_024, 1_024);

/** How much of an image is decoded to find its size, in characters of base64. */
const HEAD_CHARACTERS = 256 * 1024;

async function tokensOfFile(source: MediaSource): Promise<number> {
  if (source.kind === 'url') return TOKENS_OF_UNSEEN;
  try {
    const header = await inspectMedia(new BufferSource(await decodedBase64(source.base64.slice(0, HEAD_CHARACTERS))));
    return header.medium === 'image' ? tokensOfSize(header.width, header.height) : TOKENS_OF_UNSEEN;
  } catch {
    return TOKENS_OF_UNSEEN;
  }
}

/** Counts tokens with a real tokenizer, in time proportional to the text whatever the text is. */
export interface TokenCounter {
  /** Tokens of a text of any length, while other work runs in between. */
  count(text: string): Promise<number>;
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
  const count = async (text: string): Promise<number> => {
    let tokens = 0;
    for (const slice of slices(text)) {
      tokens += countSlice(slice);
      if (slice.length === SLICE_CHARACTERS) await nextTurn();
    }
    return tokens;
  };
  return {
    count,
    countRequest: async (request) => {
      let imageTokens = 0;
      for (const part of mediaOf(request.turns))
        if (part.type === 'image' || part.type === 'file') imageTokens += await tokensOfFile(part.source);
      let inputTokens = (request.turns.length + request.system.length) * TOKENS_PER_TURN + imageTokens;
      for (const text of countableText(request)) inputTokens += await count(text);
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
