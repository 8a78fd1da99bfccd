/** What a request is about, for numbers and traces: a closed list. */
export type RequestStyle =
  'responses' | 'gemini' | 'messages' | 'video' | 'image' | 'tasks' | 'account' | 'files' | 'admin' | 'ops' | 'other';

/** By the beginning of the path; the first that fits counts. */
const STYLES: readonly (readonly [RegExp, RequestStyle])[] = [
  [/^(\/v1){0,2}\/responses\b/, 'responses'],
  [/^(\/v1beta|\/v1)?\/models\/[^/]+(:|%3a)/i, 'gemini'],
  [/^(\/v1){0,2}\/messages\b/, 'messages'],
  [/^\/v1\/videos\b/, 'video'],
  [/^\/v1\/images\b/, 'image'],
  [/^\/v1\/tasks\b/, 'tasks'],
  [/^\/files\b/, 'files'],
  [/^\/admin\b/, 'admin'],
  [/^\/(healthz|readyz|metrics|ops|docs|openapi\.json)\b/, 'ops'],
  [/^(\/v1\/|\/user\/)/, 'account'],
];

/** The style of a path. */
export const styleOf = (path: string): RequestStyle => STYLES.find(([pattern]) => pattern.test(path))?.[1] ?? 'other';
