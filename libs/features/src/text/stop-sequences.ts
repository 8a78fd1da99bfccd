/** The sequences that end a reply. One without a character ends none, and some vendors refuse it. */
export const stopSequences = (sent: string | readonly string[] | null | undefined): string[] =>
  [sent ?? []].flat().filter((sequence) => sequence !== '');
