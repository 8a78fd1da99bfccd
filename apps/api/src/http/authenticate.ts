import { type AccessService, type Caller, expectAllowedAddress } from '#features';
import type { Request } from 'express';
import { presentedKey } from './presented-key.js';

/**
 * Says who sent a request.
 *
 * @throws GatewayError `invalid_api_key`, `address_not_allowed` when the key is bound to other addresses, or
 * `rate_limit_exceeded` when too many wrong keys came from the address.
 */
export async function authenticate(request: Request, access: AccessService): Promise<Caller> {
  const caller = await access.authenticate(presentedKey(request), () => request.ip);
  // Asking Express for the address costs more than the rest of this, and few keys are bound to any.
  if (caller.allowedAddresses.length > 0) expectAllowedAddress(caller.allowedAddresses, request.ip);
  return caller;
}
