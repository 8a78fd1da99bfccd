import { type FieldError, GatewayError } from '#contracts';

/** One referenced file and the rule it broke, worded for the caller; `param` is where it is in the request. */
export interface BrokenMediaRule {
  readonly param: string;
  /** A sentence that names the rule and what was found: "the image is 100x700 pixels; each side must be at least 128." */
  readonly rule: string;
}

/** Referenced files that break rules. At submission it is the refusal; in a worker its message is the task's error. */
export class InvalidMedia extends GatewayError {
  /** Every broken rule, at least one. */
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
