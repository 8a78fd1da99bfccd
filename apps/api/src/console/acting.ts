import type { Request } from 'express';
import { GatewayError } from '#contracts';
import type { Caller, OpenSession, Operator } from '#features';
import { openSession } from './console-gate.js';

/** The actor for the audit: the user, the key, or the operator whose token opened the session. */
export function actorOf(request: Request): Operator {
  const { user, operator, caller } = openSession(request);
  const actor = user?.id ?? (operator ? `console:${operator.role}` : (caller?.apiKeyId ?? 'console'));
  return { actor, requestId: request.requestId, address: request.ip ?? null };
}

/** Whose models are listed: an operator without an account sees all of them. */
export const everyModel = ({ caller }: Request): Pick<Caller, 'allowedModels'> => caller ?? { allowedModels: [] };

/** The signed-in user. @throws GatewayError `permission_denied`: operators by token and holders of a key have no profile. */
export function personOf(request: Request): NonNullable<OpenSession['user']> {
  const { user } = openSession(request);
  if (user) return user;
  throw new GatewayError('permission_denied', 'This session belongs to an API key or a token: sign in as a user.');
}
