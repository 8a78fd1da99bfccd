/** What a function returned, for protocols that have no other place to say that it failed. */
export const failedText = (text: string, isError: boolean): string =>
  isError && !/^\W*error/i.test(text) ? `Error: ${text}` : text;
