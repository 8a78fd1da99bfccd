import { GatewayError } from '#contracts';
import { type AccessService, type Caller, expectAllowedAddress } from '#features';
import type { Request } from 'express';
import { presentedKey } from './presented-key.js';
import { whyNoKey } from './why-no-key.js';

const KEY_HEADER = '"Authorization: Bearer <API_KEY>"';

/** Where other services take their keys. */
const KEY_IN_QUERY = /^(api[-_]?key|access_token|token)$/i;
const KEY_HEADERS_ELSEWHERE = ['api-key', 'apikey', 'x-auth-token', 'x-token', 'token'];

/**
 * Authenticates the caller of a request, at once where its key is known: most of what a promise costs is spent on waiting for nothing.
 *
 * @throws GatewayError `invalid_api_key`, `address_not_allowed` when the key is bound to other addresses, or
 * `rate_limit_exceeded` when too many wrong keys came from the address.
 */
export function authenticate(request: Request, access: AccessService): Caller | Promise<Caller> {
  const presented = presentedKey(request);
  if (!presented) throw new GatewayError('invalid_api_key', noKey(request));
  const caller = access.authenticate(presented, () => request.ip);
  return caller instanceof Promise ? caller.then((found) => admitted(found, request)) : admitted(caller, request);
}

/** @throws GatewayError `address_not_allowed`. */
function admitted(caller: Caller, request: Request): Caller {
  // Asking Express for the address costs more than the rest of this, and few keys are bound to any.
  if (caller.allowedAddresses.length > 0) expectAllowedAddress(caller.allowedAddresses, request.ip);
  return caller;
}

function noKey(request: Request): string {
  if (typeof request.query['key'] === 'string' && !request.headers.authorization)
    return `The API key was sent as ?key=, which only content-generation paths take: add the header ${KEY_HEADER}.`;
  const elsewhere = Object.keys(request.query).find((name) => KEY_IN_QUERY.test(name));
  if (elsewhere !== undefined && !request.headers.authorization)
    return `The API key was sent in the address, which logs keep: add the header ${KEY_HEADER}.`;
  const header = KEY_HEADERS_ELSEWHERE.find((name) => request.headers[name] !== undefined);
  if (header !== undefined && !request.headers.authorization)
    return `The API key was sent in the header ${header}, which is not read: add the header ${KEY_HEADER}.`;
  return whyNoKey(request, 'key', KEY_HEADER) ?? `No API key was sent: add the header ${KEY_HEADER}.`;
}
