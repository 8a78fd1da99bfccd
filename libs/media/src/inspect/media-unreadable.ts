/**
 * Why a file could not be measured. `unsupported`: another type; `malformed`: broken or cut off; `budget`: its header is
 * too large or too scattered to look for; `too_large`: more bytes than allowed; `changed`: it became another file while
 * it was read; `bad_data_uri`: not a base64 data URI of an allowed type; `bad_answer`: the host answered something else.
 */
export type MediaUnreadableCode =
  'unsupported' | 'malformed' | 'budget' | 'too_large' | 'changed' | 'bad_data_uri' | 'bad_answer';

/** A file that cannot be measured. The message continues the sentence "the file …" and may be shown to its owner. */
export class MediaUnreadable extends Error {
  readonly code: MediaUnreadableCode;

  constructor(code: MediaUnreadableCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MediaUnreadable';
    this.code = code;
  }
}

/** A file that breaks the rules of its own format. */
export const malformed = (what: string): MediaUnreadable => new MediaUnreadable('malformed', `is broken: ${what}`);

/** A file whose end is missing. */
export const cutOff = (): MediaUnreadable => new MediaUnreadable('malformed', 'is cut off before its end');
