import type { SafeAnswer } from './safe-fetcher.js';

/** What a partial answer says about itself: where it begins, and how long the whole file is. Both in bytes. */
export interface ContentRange {
  readonly start: number;
  readonly size: number;
}

/** Reads `content-range: bytes 0-99/1234`; nothing when it is missing, malformed or hides the size. */
export function contentRange(answer: Pick<SafeAnswer, 'headers'>): ContentRange | undefined {
  const match = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15})$/.exec(String(answer.headers['content-range'] ?? ''));
  return match ? { start: Number(match[1]), size: Number(match[2]) } : undefined;
}
