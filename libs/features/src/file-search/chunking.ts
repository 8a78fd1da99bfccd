/** How a file is cut into passages. */
export interface Chunking {
  /** The most tokens of a passage, 100 to 4096, as `roughTokens` counts them. */
  readonly chunkTokens: number;
  /** How many of them the next passage repeats: at most half. */
  readonly overlapTokens: number;
}

/** What the widely used interface calls `auto`. */
export const DEFAULT_CHUNKING: Chunking = { chunkTokens: 800, overlapTokens: 400 };
