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

export const tooMuch = (rule: string): Unreadable => new Unreadable('invalid_file', `The file has ${rule}.`);
