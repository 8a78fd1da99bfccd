import { GatewayError } from '#contracts';

/** Names of accounts and keys as vendors write them, keys half hidden by stars too. */
const ACCOUNT_NAMES = /\b(sk|gsk|xai|AIza)[-_]?[A-Za-z0-9_*-]{12,}|\b(org|proj)[-_][A-Za-z0-9]{12,}/g;

const HIDDEN = '[hidden]';

/** The same failure, its sentence without the operator's key, account and address. */
export function withoutSecrets(error: GatewayError, secrets: readonly string[]): GatewayError {
  const { publicMessage, code, message: log, param, retryAfterMs, upstreamCode, cause } = error;
  let cleaned = publicMessage.replace(ACCOUNT_NAMES, HIDDEN);
  for (const secret of secrets) cleaned = cleaned.replaceAll(secret, HIDDEN);
  if (cleaned === publicMessage) return error;
  return new GatewayError(code, cleaned, {
    log,
    cause,
    ...(param === undefined ? {} : { param }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(upstreamCode === undefined ? {} : { upstreamCode }),
  });
}
