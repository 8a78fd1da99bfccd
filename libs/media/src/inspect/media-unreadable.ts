import { type FieldError, GatewayError } from '#contracts';
import { CodedError } from '#platform';

/**
 * Why a file could not be measured. `unsupported`: another type; `malformed`: broken or cut off; `budget`: its header is
 * too large or too scattered to look for; `too_large`: more bytes than allowed; `changed`: it became another file while
 * it was read; `bad_data_uri`: not a base64 data URI of an allowed type; `bad_answer`: the host answered something else.
 */
export type MediaUnreadableCode =
  'unsupported' | 'malformed' | 'budget' | 'too_large' | 'changed' | 'bad_data_uri' | 'bad_answer';

/** A file that cannot be measured. The message continues the sentence "the file …" and may be shown to its owner. */
export class MediaUnreadable extends CodedError<MediaUnreadableCode> {}

/** A file that breaks the rules of its own format. */
export const malformed = (what: string): MediaUnreadable => new MediaUnreadable('malformed', `is broken: ${what}`);

/** A file whose end is missing. */
export const cutOff = (): MediaUnreadable => new MediaUnreadable('malformed', 'is cut off before its end');

/** One referenced file and the rule it broke, worded for the caller; `param` is where it is in the request. */
export interface BrokenMediaRule {
  readonly param: string;
  /** A sentence that names the rule and what was found: "the image is 100x700 pixels; each side must be at least 128." */
  readonly rule: string;
}

/** Referenced files that break rules. At submission it is the refusal; in a worker its message is the task's error. */
export class InvalidMedia extends GatewayError {
  readonly broken: readonly BrokenMediaRule[];

  constructor(broken: readonly [BrokenMediaRule, ...BrokenMediaRule[]], options: { cause?: unknown } = {}) {
    const details = broken.map(asFieldError);
    super('invalid_media', sentence(broken[0]), { param: broken[0].param, details, cause: options.cause });
    this.name = 'InvalidMedia';
    this.broken = broken;
  }
}

const sentence = ({ param, rule }: BrokenMediaRule): string => `${param}: ${rule}`;

const asFieldError = (broken: BrokenMediaRule): FieldError => ({
  param: broken.param,
  code: 'invalid_media',
  message: sentence(broken),
});
