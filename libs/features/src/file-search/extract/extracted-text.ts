/** Why a file has no passages, in the words of the widely used interface. */
export type IndexErrorCode = 'unsupported_file' | 'invalid_file' | 'server_error';

/** A file that cannot be read, by its own fault. The message is for its owner. */
export class Unreadable extends Error {
  constructor(
    readonly code: IndexErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'Unreadable';
  }
}

export const broken = (what: string): Unreadable =>
  new Unreadable('invalid_file', `The file begins like ${what} and cannot be read as one: it is damaged.`);

/** @param what "The PDF", as its owner is told. */
export const encrypted = (what: string): Unreadable =>
  new Unreadable('invalid_file', `${what} is encrypted: save it without a password.`);

/** Whether a library gave up because of a cipher that it does not know. */
export const isUnknownCipher = (error: unknown): boolean => error instanceof Error && /encrypt/.test(error.message);

export const tooMuch = (rule: string): Unreadable => new Unreadable('invalid_file', `The file has ${rule}.`);

/** Why a file is not read whose content takes too much memory. */
export const NO_MEMORY = 'takes more memory to read than there is for it';

/** @param why the bound that it breaks: "could not be read within 60 s". */
export const tooHard = (why: string): Unreadable =>
  new Unreadable('invalid_file', `The file ${why}: split it, or make it simpler.`);

/** The most characters (UTF-16) of text that a file may have. */
export const TEXT_CHARACTERS_MAX = 5_000_000;

export interface ExtractedText {
  readonly text: string;
  /** Where each page begins, from the first; absent where files of its type have none. */
  readonly pageStarts?: readonly number[];
}

/** Gathers the text of a file within its bound. */
export class TextWriter {
  private readonly parts: string[] = [];
  private characters = 0;
  private endsLine = true;

  get length(): number {
    return this.characters;
  }

  /** @throws Unreadable: it is too much. */
  write(text: string): void {
    if (text === '') return;
    this.characters += text.length;
    if (this.characters > TEXT_CHARACTERS_MAX) throw tooMuch(`more than ${TEXT_CHARACTERS_MAX} characters of text`);
    this.parts.push(text);
    this.endsLine = text.endsWith('\n');
  }

  /** Ends a line unless nothing stands in it. */
  endLine(): void {
    if (!this.endsLine) this.write('\n');
  }

  text(): string {
    return this.parts.join('');
  }
}

/** As a database can keep it: without NUL and halves of surrogate pairs. As long as it was. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', ' ');
