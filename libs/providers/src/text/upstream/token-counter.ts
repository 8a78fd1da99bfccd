import type { TextRequest } from '#contracts';

/** What a message costs beyond its text: role and separators. */
const TOKENS_PER_TURN = 4;

/** Pictures are charged by size; without looking inside, each counts as a picture of 1024 x 1024. */
const TOKENS_PER_IMAGE = 765;

/** Counts tokens with a real tokenizer. */
export interface TokenCounter {
  count(text: string): number;
  /** Input tokens of a whole request: prompts, turns, tools, pictures. */
  countRequest(request: TextRequest): { readonly inputTokens: number; readonly imageTokens: number };
}

type CountTokens = (text: string) => number;

/** Longest text that is counted in one go; a longer one is counted in slices, which costs a token per cut at most. */
const SLICE_CHARACTERS = 50_000;

function createCounter(countTokens: CountTokens): TokenCounter {
  const count = (text: string): number => {
    let tokens = 0;
    for (let start = 0; start < text.length; start += SLICE_CHARACTERS)
      tokens += countTokens(text.slice(start, start + SLICE_CHARACTERS));
    return tokens;
  };
  return {
    count,
    countRequest: (request) => {
      const parts = request.turns.flatMap((turn) => [...turn.parts]);
      const media = parts.flatMap((part) => (part.type === 'result' ? [...part.content] : [part]));
      const imageTokens =
        media.filter((part) => part.type === 'image' || part.type === 'file').length * TOKENS_PER_IMAGE;
      const texts = media.flatMap((part) => {
        if (part.type === 'call') return [part.name, part.arguments];
        return part.type === 'text' || part.type === 'reasoning' ? [part.text] : [];
      });
      const tools = request.tools.map((tool) => JSON.stringify(tool));
      const turns = request.turns.length + request.system.length;
      const text = [...request.system, ...texts, ...tools].join('\n');
      return { inputTokens: count(text) + turns * TOKENS_PER_TURN + imageTokens, imageTokens };
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
