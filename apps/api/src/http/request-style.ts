import type { TextStyle } from '#contracts';

/** What a request is about: a closed list. The three text styles also have errors of their own shape. */
export type RequestStyle = TextStyle | 'video' | 'image' | 'tasks' | 'account' | 'files' | 'admin' | 'ops' | 'other';

const TEXT: ReadonlySet<string> = new Set<TextStyle>(['responses', 'messages', 'gemini']);

/** Whether errors of a style have the shape of its vendor, instead of our own. */
export const isTextStyle = (style: RequestStyle): style is TextStyle => TEXT.has(style);
