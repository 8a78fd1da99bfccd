import { GatewayError, type Micros } from '#contracts';
import type { StatementRunner } from '#platform';

/** The money of an account, locked until the transaction ends. */
export interface LockedAccount {
  readonly availableMicros: bigint;
  readonly owedMicros: bigint;
  readonly unlimited: boolean;
}

const LOCK = `
select available_micros as "availableMicros", owed_micros as "owedMicros", unlimited from account where id = $1
for no key update`;

/**
 * Locks an account until the transaction ends.
 *
 * @throws GatewayError `not_found`.
 */
export async function lockAccount(transaction: StatementRunner, id: string): Promise<LockedAccount> {
  const [account] = (await transaction.query<LockedAccount>({ text: LOCK, values: [id] })).rows;
  return account ?? missingAccount(id);
}

export function missingAccount(id: string): never {
  throw new GatewayError('not_found', `There is no account "${id.slice(0, 64)}".`, { param: 'account_id' });
}

/** An amount that would pass the largest number a book can hold. */
export const beyondBooks = (amountMicros: Micros, availableMicros: Micros): boolean =>
  availableMicros + amountMicros > 9_223_372_036_854_775_807n ||
  availableMicros + amountMicros < -9_223_372_036_854_775_807n;
