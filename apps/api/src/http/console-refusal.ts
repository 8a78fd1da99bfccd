import { type ErrorCode, GatewayError } from '#contracts';

/** The codes that only the console has, each with the code of the gateway that gives it its status. */
const CODES = {
  sign_in_required: 'invalid_api_key',
  wrong_credentials: 'invalid_api_key',
  proof_required: 'permission_denied',
  cross_site: 'permission_denied',
  reload_required: 'conflict',
} as const satisfies Readonly<Record<string, ErrorCode>>;

/** A refusal in the words of the console. */
export class ConsoleRefusal extends GatewayError {
  constructor(
    readonly consoleCode: keyof typeof CODES,
    message: string,
    param?: string,
  ) {
    super(CODES[consoleCode], message, param === undefined ? {} : { param });
  }
}

/** The credentials match no user. */
export const wrongCredentials = (message: string, param?: string): ConsoleRefusal =>
  new ConsoleRefusal('wrong_credentials', message, param);
