import type { ConsoleEntry } from '../../api/types';
import { Money } from '../../components/values';
import { useMessages } from '../../messages/language';

export function useKindName(): (kind: string) => string {
  const { kinds } = useMessages().money.billing;
  return (kind) => (Object.hasOwn(kinds, kind) ? kinds[kind as keyof typeof kinds] : kind);
}

/** What an entry does to what may be spent: into it, out of it, or neither. */
export function Change({ of: entry }: { readonly of: Pick<ConsoleEntry, 'debit' | 'credit' | 'amount'> }) {
  const isOut = entry.debit === 'available';
  const isIn = entry.credit === 'available';
  return (
    <span className={isIn ? 'copied' : isOut ? undefined : 'muted'}>
      {isIn && '+'}
      <Money amount={isOut ? `-${entry.amount}` : entry.amount} form="full" />
    </span>
  );
}
