/** What a file is given to be found by: at most 16 names, each with a text, a number or a truth value. */
export type FileAttributes = Readonly<Record<string, string | number | boolean>>;

/** A part of a file that a search found. */
export interface Passage {
  readonly fileId: string;
  readonly filename: string;
  /** 0 to 1, better ones higher. How it is made: docs/api.md, "Files and search". */
  readonly score: number;
  readonly text: string;
  /** Of the file in the vector store that was searched; empty in the default one. */
  readonly attributes: FileAttributes;
  /** Where the chunk begins in the text of the file, in characters (UTF-16) as `GET …/content` has it. */
  readonly start: number;
  /** The first character after it. */
  readonly end: number;
  /** The page that it begins on, from 1; null where files of its type have none. */
  readonly page: number | null;
}
