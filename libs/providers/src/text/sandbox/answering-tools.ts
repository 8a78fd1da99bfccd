import type { FunctionTool } from '#contracts';

/** Longer texts are no questions. In characters. */
const LONGEST_QUESTION = 1_000;

/** How much of a description says what a tool is for, in characters: its first sentence. */
const LONGEST_SENTENCE = 200;

/** A description of so few words is a name: one of them in the question is enough, of a longer one it takes two. */
const WORDS_OF_A_NAME = 6;

/** Stop words that do not tell what a question is about. */
const EMPTY_WORDS = new Set(
  'a about all an and any are as at be by call can could current do does fetch find for from function get give given has have how i if in into is it its list look lookup make me my now of on or out please query returns run set should show some tell that the their then there this to tool up use used user using want was what when where which who will with would you your'.split(
    ' ',
  ),
);

const ENDING = /(?<=\p{L}{3})(ing|ed|es|s)$/u;

/** The words of a text that say what it is about, without their endings; of scripts without blanks, pairs of characters. */
function subjectsOf(text: string): ReadonlySet<string> {
  const spaced = text.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase();
  const words = spaced.match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.flatMap((word) => (/\p{Script=Han}/u.test(word) ? pairsOf(word) : wordsOf(word))));
}

const wordsOf = (word: string): string[] => (EMPTY_WORDS.has(word) ? [] : [word.replace(ENDING, '')]);

const pairsOf = (word: string): string[] => {
  const characters = word.match(/./gu) ?? [];
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
};

const firstSentence = (text: string): string =>
  (/^.*?([.!?。](?=\s|$)|\n|$)/su.exec(text)?.[0] ?? '').slice(0, LONGEST_SENTENCE);

/**
 * The tools that a model would call for a question: those whose whole name stands in it in other words, or else the one
 * whose description has most in common with it.
 */
export function toolsAnswering(question: string, tools: readonly FunctionTool[]): readonly FunctionTool[] {
  if (question.length > LONGEST_QUESTION) return [];
  const asked = subjectsOf(question);
  const named = tools.filter(({ name }) => {
    const subjects = subjectsOf(name);
    return subjects.size > 0 && [...subjects].every((subject) => asked.has(subject));
  });
  if (named.length > 0) return named;
  let [best, most]: [FunctionTool | undefined, number] = [undefined, 0];
  for (const tool of tools) {
    const subjects = [...subjectsOf(firstSentence(tool.description ?? ''))];
    const shared = subjects.filter((subject) => asked.has(subject));
    const isEnough = shared.length > 1 || (shared.length === 1 && subjects.length <= WORDS_OF_A_NAME);
    if (isEnough && shared.length > most) [best, most] = [tool, shared.length];
  }
  return best ? [best] : [];
}
