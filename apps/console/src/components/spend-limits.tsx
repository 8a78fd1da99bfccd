import type { ConsoleSpendLimit } from '../api/types';
import { useMessages } from '../messages/language';
import { Money, Time } from './values';

/** How far the limits of the day and the month are used, and when they begin again. */
export function SpendLimits({ of: limits }: { readonly of: readonly ConsoleSpendLimit[] }) {
  const { keys } = useMessages();
  return limits.map(({ period, limit, spent, held, resets_at: resetsAt }) => (
    <p key={period}>
      {keys.limitOf[period]}: <Money amount={spent} />{' '}
      {/[1-9]/.test(held) && (
        <>
          + <Money amount={held} />{' '}
        </>
      )}
      {keys.limitUsed} <Money amount={limit} />
      <span className="muted">
        , {keys.limitResets} <Time at={resetsAt} absolute />
      </span>
    </p>
  ));
}
