import { GatewayError } from '#contracts';
import { type AccessService, type Caller, expectAllowedAddress } from '#features';
import type { Request } from 'express';
import { presentedKey } from './presented-key.js';
import { whyNoKey } from './why-no-key.js';

const KEY_HEADER = '"Authorization: Bearer <API_KEY>"';

/**
 * Says who sent a request.
 *
 * @throws GatewayError `invalid_api_key`, `address_not_allowed` when the key is bound to other addresses, or
 * `rate_limit_exceeded` when too many wrong keys came from the address.
 */
export async function authenticate(request: Request, access: AccessService): Promise<Caller> {
  const presented = presentedKey(request);
  if (!presented) throw new GatewayError('invalid_api_key', noKey(request));
  const caller = await access.authenticate(presented, () => request.ip);
  // Asking Express for the address costs more than the rest of this, and few keys are bound to any.
  if (caller.allowedAddresses.length > 0) expectAllowedAddress(caller.allowedAddresses, request.ip);
  return caller;
}

function noKey(request: Request): string {
  if (typeof request.query['key'] === 'string' && !request.headers.authorization)
    return `The API key was sent as ?key=, which only content-generation paths take: add the header ${KEY_HEADER}.`;
  return whyNoKey(request, 'key', KEY_HEADER) ?? `No API key was sent: add the header ${KEY_HEADER}.`;
}
