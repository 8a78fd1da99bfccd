/** A generation of models, for example `[5, 5]`. */
export type Generation = readonly [major: number, minor: number];

/** What a name tells of a model, whoever resells it: `us.anthropic.claude-opus-5-5-20260901-v1:0` is Opus of the generation 5.5. */
export interface NamedModel {
  readonly family: ModelFamilyName;
  readonly generation: Generation;
  /** The words behind and before the generation, in lower case: `opus`, `argon`, `mini`. */
  readonly words: readonly string[];
}

/** A number behind the major one that is no date and no size. */
const MINOR = String.raw`(?:[-._ ](?<minor>\d{1,2}))?(?![\dk])`;

/**
 * How the names of each family are told wherever they stand in a longer one: `words` may stand in front of the generation as well as
 * behind it.
 */
const FAMILIES = {
  claude: new RegExp(
    String.raw`(?:claude[-_ ]|(?<![a-z])(?=(?:opus|sonnet|haiku)[-_ ]))(?<words>[a-z]+[-_ ]?)?(?<major>\d{1,2})${MINOR}`,
  ),
  gpt: new RegExp(String.raw`(?<![a-z])(?:chat)?gpt[-_ ]?(?<major>\d{1,2})${MINOR}`),
  o: /(?:^|[/.:]|openai[-_ ]|azure[-_ ])o(?<major>\d)(?=[-_ :@/]|$)/,
  gemini: new RegExp(String.raw`gemini[-_ ](?<major>\d{1,2})${MINOR}`),
  mistral: /(?:mis|minis|magis|devs|codes|pix|vox|mix)tral/,
} as const;
export type ModelFamilyName = keyof typeof FAMILIES;

/** Models whose names tell no generation. */
const UNNUMBERED: readonly (readonly [RegExp, NamedModel])[] = [
  // Aliases for the newest of a line.
  ...['opus', 'sonnet', 'haiku'].map((line): readonly [RegExp, NamedModel] => [
    new RegExp(`claude-${line}(?:-latest|$|[:@])`),
    { family: 'claude', generation: [5, 5], words: [line] },
  ]),
  [/claude-mythos/, { family: 'claude', generation: [5, 0], words: ['mythos'] }],
  [/(?<![a-z])(?:chat)?gpt-/, { family: 'gpt', generation: [0, 0], words: [] }],
  // An alias for the newest; what holds for it has held since the third generation.
  [/gemini-.*latest/, { family: 'gemini', generation: [3, 0], words: [] }],
];

/** What an upstream's name of a model tells; undefined where it is none that is known. */
export function namedModel(name: string): NamedModel | undefined {
  const lower = name.toLowerCase();
  for (const family of Object.keys(FAMILIES) as ModelFamilyName[]) {
    const found = FAMILIES[family].exec(lower);
    if (!found) continue;
    const { major = '0', minor, words = '' } = found.groups ?? {};
    const behind = lower.slice(found.index + found[0].length);
    return {
      family,
      generation: generationOf(Number(major), minor),
      words: `${words} ${behind}`.match(/[a-z]+/g) ?? [],
    };
  }
  return UNNUMBERED.find(([pattern]) => pattern.test(lower))?.[1];
}

/** From here on a number is two, written without what stands between them: `gpt-35-turbo`. */
const TWO_NUMBERS = 20;

const generationOf = (major: number, minor: string | undefined): Generation =>
  minor === undefined && major >= TWO_NUMBERS ? [Math.floor(major / 10), major % 10] : [major, Number(minor ?? '0')];

/** Whether one generation is the other or a later one. */
export const isFrom = ([major, minor]: Generation, [first, second]: Generation): boolean =>
  major > first || (major === first && minor >= second);
