import { GatewayError } from '#contracts';
import type { Caller } from './caller.js';

/**
 * What a key may be limited to. A key without scopes may do everything, with all that its account has. A key with scopes
 * may do what they name and nothing else, and sees only tasks and repeated answers of its own unless `account` is among them.
 */
export const KEY_SCOPES = [
  /** Submit tasks and text requests; quotes, token counts and the catalogue. */
  'generate',
  /** Read, list and follow tasks. */
  'tasks:read',
  /** Stop tasks. */
  'tasks:cancel',
  /** Read stored responses of the account, and continue from them. */
  'responses',
  /** Upload, read, search and delete the files and vector stores of the account. */
  'files',
  /** Endpoints, deliveries and the secrets that sign webhooks. */
  'webhooks',
  /** Balances of the account and the key. */
  'balance',
  'usage',
  /** Every movement of the account's money. */
  'ledger',
  /** The tasks and the repeated answers of all keys of the account, not only the key's own. */
  'account',
] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** Whether the caller may do what needs the scope. */
export const hasScope = ({ scopes }: Pick<Caller, 'scopes'>, scope: KeyScope): boolean =>
  scopes.length === 0 || scopes.includes(scope);

/** @throws GatewayError `permission_denied` naming the scope; without one, what is asked for is open to no scope. */
export function expectScope(caller: Pick<Caller, 'scopes'>, scope: KeyScope | undefined): void {
  if (scope === undefined ? caller.scopes.length === 0 : hasScope(caller, scope)) return;
  const needed = scope === undefined ? 'a key without scopes' : `the scope "${scope}"`;
  throw new GatewayError('permission_denied', `This API key may not do that: it requires ${needed}.`);
}

/** The key whose tasks and repeated answers alone the caller may see; null: those of the whole account. */
export const onlyOwnKey = (caller: Pick<Caller, 'scopes' | 'apiKeyId'>): string | null =>
  hasScope(caller, 'account') ? null : caller.apiKeyId;
