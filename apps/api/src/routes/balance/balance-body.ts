import { shortDecimal } from '#contracts';
import type { Balance, KeyBalance } from '#features';

/** What D1 2.5 says when nothing limits a balance. */
const UNLIMITED = '-1';

/**
 * The balance of an account as JSON text (D1 2.5): no envelope. Written by hand because JSON numbers of the language
 * lose digits beyond 2^53, and a balance must not.
 */
export const balanceBody = (balance: Balance): string => `{"success":true,${balanceFields(balance)}}`;

/** The balance of a key: the same fields, its own limit (-1 when it has none) and its end in Unix seconds. */
export const keyBalanceBody = (balance: KeyBalance): string => {
  const quota = balance.quotaMicros === null ? UNLIMITED : shortDecimal(balance.quotaMicros);
  const expires = balance.expiresAt === null ? 'null' : Math.floor(balance.expiresAt.getTime() / 1000);
  return `{"success":true,${balanceFields(balance)},"total_quota":${quota},"expires_at":${expires}}`;
};

/** `owed_balance` stands there only while the account owes something, so that the shape of D1 2.5 is otherwise exact. */
function balanceFields({ remainingMicros, usedMicros, owedMicros }: Balance): string {
  const remaining = remainingMicros === null ? UNLIMITED : shortDecimal(remainingMicros);
  const used = shortDecimal(usedMicros);
  const owed = owedMicros === 0n ? '' : `,"owed_balance":${shortDecimal(owedMicros)}`;
  return `"remain_balance":${remaining},"used_balance":${used},"unlimited_quota":${remainingMicros === null}${owed}`;
}

/** A failed balance request (D1 section 7). */
export const balanceFailureBody = (message: string): string => JSON.stringify({ success: false, message });
