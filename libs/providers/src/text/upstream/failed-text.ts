/** What a function returned, for protocols that have no other field to mark a failure. */
export const failedText = (text: string, isError: boolean): string =>
  isError && !/^\W*error/i.test(text) ? `Error: ${text}` : text;
