import { TEXT_STYLES, type TextStyle } from '#contracts';

/** What a request is about: a closed list. The text styles also have errors of their own shape. */
export type RequestStyle =
  TextStyle | 'video' | 'image' | 'tasks' | 'account' | 'files' | 'callbacks' | 'admin' | 'ops' | 'console' | 'other';

const TEXT: ReadonlySet<string> = new Set(TEXT_STYLES);

/** Whether errors of a style have the shape of its vendor, instead of our own. */
export const isTextStyle = (style: RequestStyle): style is TextStyle => TEXT.has(style);
