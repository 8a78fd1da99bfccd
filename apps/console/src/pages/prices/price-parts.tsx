import { Link, useLocation } from '@tanstack/react-router';
import type { FeeUnit, TokenUnit, ToolUnit } from '#contracts';
import type { AdminItemPrice, AdminPrice } from '../../api/types';
import type { DayRange } from '../../components/day-range';
import { Dialog } from '../../components/dialog';
import { Notice } from '../../components/page';
import { formatCount, unitName } from '../../format/number';
import { fromMicros, toMicros } from '../../format/money';
import { dayAgo } from '../../format/time';
import { useLanguage, useMessages } from '../../messages/language';

/** How many tokens most prices of tokens are for. */
export const MILLION = 1_000_000;

/** What text models are sold by, in the order in which it is shown. */
export const TOKEN_PRICES: readonly string[] = Object.keys({
  input_token: true,
  cached_input_token: true,
  cache_write_token: true,
  cache_write_long_token: true,
  image_token: true,
  audio_input_token: true,
  output_token: true,
  reasoning_token: true,
  audio_output_token: true,
  image_output_token: true,
  request: true,
  vendor_web_search_call: true,
  web_search_call: true,
  file_search_call: true,
  mcp_call: true,
  tool_round: true,
} satisfies Record<TokenUnit | FeeUnit | ToolUnit, true>);

/** The pages about prices, above each of them. */
export function PriceTabs() {
  const { tabs } = useMessages().selling;
  const pages = [
    ['/admin/prices', tabs.book],
    ['/admin/prices/proposals', tabs.proposals],
    ['/admin/prices/lists', tabs.lists],
    ['/admin/prices/simulation', tabs.simulation],
  ] as const;
  const path = useLocation({ select: ({ pathname }) => pathname });
  // The pages of single models belong to the book.
  const current = pages.findLast(([to]) => path.startsWith(to))?.[0];
  return (
    <nav className="tabs" aria-label={tabs.label}>
      {pages.map(([to, name]) => (
        <Link
          key={to}
          to={to}
          activeProps={{}}
          activeOptions={{ exact: true, includeSearch: false }}
          {...(to === current && { 'aria-current': 'page' })}
        >
          {name}
        </Link>
      ))}
    </nav>
  );
}

type Named = Pick<AdminItemPrice, 'unit' | 'variant' | 'from_input_tokens' | 'per_quantity'>;

/** What a price is of: its unit, and its service tier and band where it has one. */
export function PriceName({ of: price }: { readonly of: Named }) {
  const { messages, language } = useLanguage();
  const { selling, money } = messages;
  const rest = [
    ...(price.variant === 'default' ? [] : [tierName(selling.tiers, price.variant)]),
    ...(price.from_input_tokens === 0 ? [] : [selling.band(formatCount(price.from_input_tokens, language))]),
    ...(price.per_quantity === MILLION || price.per_quantity === 1
      ? []
      : [selling.per(formatCount(price.per_quantity, language))]),
  ];
  return (
    <>
      {unitName(money.units, price.unit, price.per_quantity)}
      {rest.length > 0 && <span className="muted"> · {rest.join(' · ')}</span>}
    </>
  );
}

/** A service tier in words; the variants of media as they are. */
export const tierName = (tiers: Readonly<Record<string, string>>, variant: string): string => tiers[variant] ?? variant;

/** What two prices are the same of. */
export const sortOf = ({ unit, variant, from_input_tokens: from }: Omit<Named, 'per_quantity'>): string =>
  `${unit} ${variant} ${from}`;

export type PriceState = 'active' | 'future' | 'past' | 'withdrawn';

/**
 * Which of the prices of the same thing are in force: the newest that has begun, unless it was withdrawn. The one before it then
 * holds again.
 */
export function priceStates(prices: readonly AdminPrice[], nowMs = Date.now()): ReadonlyMap<string, PriceState> {
  const thingOf = (price: AdminPrice): string => `${price.model} ${sortOf(price)}`;
  const isWithdrawn = ({ withdrawn_at: at }: AdminPrice): boolean => at !== null && Date.parse(at) <= nowMs;
  const inForce = new Map<string, AdminPrice>();
  for (const price of prices) {
    const before = inForce.get(thingOf(price));
    const from = Date.parse(price.effective_from);
    if (isWithdrawn(price) || from > nowMs) continue;
    if (!before || Date.parse(before.effective_from) <= from) inForce.set(thingOf(price), price);
  }
  const stateOf = (price: AdminPrice): PriceState => {
    if (isWithdrawn(price)) return 'withdrawn';
    if (inForce.get(thingOf(price)) === price) return 'active';
    return Date.parse(price.effective_from) > nowMs ? 'future' : 'past';
  };
  return new Map(prices.map((price) => [price.id, stateOf(price)]));
}

/** The amount of a price for another quantity, as decimal text, rounded to a millionth. */
export function amountFor(price: Pick<AdminItemPrice, 'amount' | 'per_quantity'>, quantity: number): string {
  const scaled = toMicros(price.amount) * BigInt(quantity);
  const by = BigInt(price.per_quantity);
  return fromMicros((scaled * 2n + by) / (by * 2n));
}

/** Without the zeros at its end that say nothing: `0.500000` is `0.5`. */
export const shortAmount = (amount: string): string =>
  amount.includes('.') ? amount.replace(/0+$/, '').replace(/\.$/, '') : amount;

interface BelowCostProps {
  readonly title: string;
  readonly of: readonly string[];
  readonly onClose: () => void;
}

/** What was set sells below a known cost: in force, and said once. */
export function BelowCost({ title, of: warnings, onClose }: BelowCostProps) {
  const { selling } = useMessages();
  return (
    <Dialog title={title} onClose={onClose}>
      <Notice tone="warn">
        <p>{selling.belowCost}</p>
        {warnings.map((warning) => (
          <p key={warning} lang="en" className="small-text">
            {warning}
          </p>
        ))}
      </Notice>
    </Dialog>
  );
}

/** The last days, in UTC. */
export const lastDays = (days = 30): DayRange => ({ from: dayAgo(days - 1), to: dayAgo(0) });
/** How many are asked for where more take too long. */
export const FEWER_DAYS = 7;
