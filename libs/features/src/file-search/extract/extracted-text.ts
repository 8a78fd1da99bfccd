import { tooMuch } from './unreadable.js';

/** The most characters (UTF-16) of text that a file may have. */
export const TEXT_CHARACTERS_MAX = 5_000_000;

/** The text of a file. */
export interface ExtractedText {
  readonly text: string;
  /** Where each page begins, from the first; absent where files of its type have none. */
  readonly pageStarts?: readonly number[];
}

/** Gathers the text of a file within its bound. */
export class TextWriter {
  readonly #parts: string[] = [];
  #length = 0;
  #endsLine = true;

  get length(): number {
    return this.#length;
  }

  /** @throws Unreadable: it is too much. */
  write(text: string): void {
    if (text === '') return;
    this.#length += text.length;
    if (this.#length > TEXT_CHARACTERS_MAX) throw tooMuch(`more than ${TEXT_CHARACTERS_MAX} characters of text`);
    this.#parts.push(text);
    this.#endsLine = text.endsWith('\n');
  }

  /** Ends a line unless nothing stands in it. */
  endLine(): void {
    if (!this.#endsLine) this.write('\n');
  }

  text(): string {
    return this.#parts.join('');
  }
}

/** As a database can keep it: without NUL and halves of surrogate pairs. As long as it was. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', ' ');
