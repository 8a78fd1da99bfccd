import type { FunctionTool, ResultPart, TextRequest } from '#contracts';

const SEARCHES = new Set<FunctionTool['runHere']>(['file_search', 'web_search']);

/** Whether the tool is a search that the gateway makes. */
export const isSearch = ({ runHere }: FunctionTool): boolean => SEARCHES.has(runHere);

/** The search that a question is put to when no other tool is about it: of the files first, they were uploaded for it. */
export const searchFor = (tools: readonly FunctionTool[]): readonly FunctionTool[] =>
  tools
    .filter(isSearch)
    .toSorted((one, other) => Number(other.runHere === 'file_search') - Number(one.runHere === 'file_search'))
    .slice(0, 1);

/** The last words of the user, however many results stand behind them. */
export const questionIn = ({ turns }: TextRequest): string =>
  turns
    .flatMap((turn) => (turn.role === 'user' ? turn.parts : []))
    .reduce((last, part) => (part.type === 'text' ? part.text : last), '');

/** What was found, with the mark that it is cited by: the first line names it, the others are its words. */
interface Found {
  readonly mark: string;
  readonly name: string;
  readonly text: string;
}

const FOUND = /^(【\d+】) (.*)\n([\s\S]*)$/;

function foundIn({ content }: ResultPart): Found[] {
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n\n');
  return text.split(/\n\n(?=【\d+】 |Cite what)/).flatMap((piece) => {
    const [, mark, name, words] = FOUND.exec(piece) ?? [];
    return mark !== undefined && name !== undefined && words !== undefined ? [{ mark, name, text: words }] : [];
  });
}

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu));

/** Quotes the sentence that has most in common with the question, and cites where it stands; undefined for other results. */
export function citedAnswer(
  result: ResultPart,
  question: string,
  quoted: (text: string) => string,
): string | undefined {
  const found = foundIn(result);
  const asked = wordsOf(question);
  let best: { readonly found: Found; readonly sentence: string } | undefined;
  let most = -1;
  for (const each of found)
    for (const sentence of each.text.split(/(?<=[.!?。])\s+|\n+/)) {
      const shared = [...wordsOf(sentence)].filter((word) => asked.has(word)).length;
      if (sentence.trim() !== '' && shared > most) [best, most] = [{ found: each, sentence: sentence.trim() }, shared];
    }
  return best && `In ${best.found.name} I found: ${quoted(best.sentence)} ${best.found.mark}`;
}
