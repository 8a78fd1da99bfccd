/** How a model is asked to think: with a number of tokens to spend, or with as much as an effort stands for. */
export type ThinkingWords = 'budget' | 'effort';

/** What differs between the models of this interface, whose vendor names its generations. */
export interface ModelTraits {
  readonly thinking: ThinkingWords;
  /** The words for how to sample that it takes: all, one of temperature and top_p, or none. */
  readonly sampling: 'all' | 'one' | 'none';
  /** Whether its efforts have a word between the strong and the strongest. */
  readonly hasExtraHigh: boolean;
}

const GENERATION = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/i;
/** A model whose name tells no generation. */
const UNNUMBERED = /claude-mythos/i;

/** The generation of a model, for example 4.6; undefined for models of other vendors. */
function generationOf(model: string): { readonly major: number; readonly minor: number } | undefined {
  const [, major, minor = '0'] = GENERATION.exec(model) ?? [];
  if (major !== undefined) return { major: Number(major), minor: Number(minor) };
  return UNNUMBERED.test(model) ? { major: 5, minor: 0 } : undefined;
}

/** What is known of a model by the name that its vendor has for it. */
export function traitsOf(model: string): ModelTraits {
  const generation = generationOf(model);
  if (!generation) return { thinking: 'budget', sampling: 'all', hasExtraHigh: false };
  const { major, minor } = generation;
  const isFrom = (first: number, second: number): boolean => major > first || (major === first && minor >= second);
  return {
    thinking: isFrom(4, 6) ? 'effort' : 'budget',
    sampling: isFrom(4, 7) ? 'none' : isFrom(4, 1) ? 'one' : 'all',
    hasExtraHigh: isFrom(4, 7),
  };
}
