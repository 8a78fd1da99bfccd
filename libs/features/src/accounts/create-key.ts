import { type Database, randomId, type Secrets } from '#platform';
import { FIRST_ACCOUNT_ID } from './seed.service.js';
import { AuditedChanges } from '../audit/audit.js';
import { KeysService } from './keys.service.js';

/** Whose key, and what to call it. */
export interface KeyCommand {
  /** The first account when absent. */
  readonly account?: string | undefined;
  readonly name?: string | undefined;
}

/**
 * Makes a key by a command of the operator's, with a record of it, and answers the key.
 *
 * @throws GatewayError `not_found`: there is no such account; a gateway that was never started has none.
 */
export async function createKey(
  database: Database,
  { keyPepper }: Secrets,
  { account = FIRST_ACCOUNT_ID, name = 'Made by new-key' }: KeyCommand,
): Promise<string> {
  const operator = { actor: 'new-key command', requestId: randomId('req'), address: null };
  const keys = new KeysService(database, new AuditedChanges(database), keyPepper);
  return (await keys.create(operator, account, { name })).key;
}
