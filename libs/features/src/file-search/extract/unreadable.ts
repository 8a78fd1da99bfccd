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
