import type { TextStyle } from '#contracts';

/** Every path of a style, aliases included: client libraries differ in how much of the path they add themselves. */
const PATHS: readonly (readonly [RegExp, TextStyle])[] = [
  [/^(\/v1){0,2}\/responses(\/|$)/, 'responses'],
  [/^(\/v1){0,2}\/messages(\/|$)/, 'messages'],
  [/^(\/v1(beta)?)?\/models\/[^/]*(:|%3a)/i, 'gemini'],
];

/** The style a path belongs to; undefined for all that is not text. */
export const textStyleOf = (path: string): TextStyle | undefined => PATHS.find(([pattern]) => pattern.test(path))?.[1];
