import { type AdminItemPrice, type AdminProposalItem, formatMicros, shortDecimal } from '#contracts';
import { nextTurn, Turns } from '#platform';
import type { TextUpstreams } from '../../upstreams/text-upstreams.js';
import {
  type BookPrice,
  changesLittle,
  type Difference,
  differenceOf,
  type ProposalFlag,
  type ProposalTerms,
  type ProposedPrice,
} from './proposed-prices.js';
import type { ListNames, NamedEntry } from './list-names.js';

type ItemPrice = AdminItemPrice;
type ItemProposal = AdminProposalItem['proposed'][number];

export interface ProposalItem extends AdminProposalItem {
  readonly flags: readonly ProposalFlag[];
}

/** Whatever stands against ticking an item beforehand. */
const UNTICKED: ReadonlySet<ProposalFlag> = new Set([
  'unmapped',
  'other_entry',
  'no_price',
  'incomplete_band',
  'unsure_band',
  'unknown_unit',
  'many_digits',
  'unlikely_amount',
  'listed_twice',
  'below_cost',
  'from_zero',
  'free',
]);

export interface ProposedItems {
  readonly items: readonly ProposalItem[];
  /** Models whose prices in the book are those of the list. */
  readonly unchanged: number;
}

/** What entries are held against. */
export interface ItemSources {
  readonly names: ListNames;
  readonly terms: ProposalTerms;
  readonly book: ReadonlyMap<string, readonly BookPrice[]>;
  readonly upstreams: TextUpstreams;
  /** The moment from which the prices are to hold. */
  readonly at: Date;
  /** What the upstream offers whose own list it is. */
  readonly offered: ReadonlySet<string> | undefined;
}

/** Makes the items of a proposal; those that a model is known of come first. Gives way to other work. */
export async function proposedItems(entries: readonly NamedEntry[], sources: ItemSources): Promise<ProposedItems> {
  const [known, others]: [ProposalItem[], ProposalItem[]] = [[], []];
  let unchanged = 0;
  const turns = new Turns();
  for (const entry of entries) {
    if (turns.isOver) await nextTurn(turns);
    if (!entry.named) {
      others.push(unnamed(entry, sources));
      continue;
    }
    const item = named(entry, entry.named.model, sources);
    if (item) known.push(item);
    else unchanged += 1;
  }
  return { items: [...known, ...others], unchanged };
}

function unnamed({ listed }: NamedEntry, { names, offered }: ItemSources): ProposalItem {
  const flags: ProposalFlag[] = ['unmapped'];
  if (listed.prices.length === 0) flags.push('no_price');
  if (offered && !offered.has(listed.id)) flags.push('not_offered');
  return {
    ...factsOf({ listed }),
    model: null,
    flags,
    ticked: false,
    suggestions: names.suggestions(listed.id),
    missing: [],
    book: [],
    proposed: [],
  };
}

/** Undefined: the book says all of it already. */
function named(entry: NamedEntry, model: string, sources: ItemSources): ProposalItem | undefined {
  const { listed, isOther } = entry;
  const { terms, book, upstreams, at, offered } = sources;
  const difference = differenceOf(model, listed, terms, book.get(model) ?? [], at);
  const isOffered = !offered || offered.has(listed.id);
  if (difference.changed.length === 0 && listed.prices.length > 0 && isOffered) return undefined;
  const proposed = difference.proposed.map((price) => proposalOf(model, price, difference, upstreams, at));
  const flags: ProposalFlag[] = [...difference.flags];
  if (proposed.some(({ margin }) => margin?.startsWith('-'))) flags.push('below_cost');
  if (isOther) flags.push('other_entry');
  if (!isOffered) flags.push('not_offered');
  return {
    ...factsOf(entry),
    model,
    flags,
    ticked: changesLittle(difference) && !flags.some((flag) => UNTICKED.has(flag)),
    suggestions: [],
    missing: difference.missing,
    book: difference.book.map(shown),
    proposed,
  };
}

const factsOf = ({ listed }: Pick<NamedEntry, 'listed'>) => ({
  id: listed.id,
  vendor: listed.vendor ?? null,
  unread: listed.unread,
  moved_bands: listed.movedBands,
});

const shown = ({
  unit,
  variant,
  fromInputTokens,
  amountMicros,
  perQuantity,
}: Omit<ProposedPrice, 'listedMicros'>): ItemPrice => ({
  unit,
  variant,
  from_input_tokens: fromInputTokens,
  amount: formatMicros(amountMicros),
  per_quantity: Number(perQuantity),
});

function proposalOf(
  model: string,
  price: ProposedPrice,
  { changed }: Difference,
  upstreams: TextUpstreams,
  at: Date,
): ItemProposal {
  const cost = dearestCost(model, price, upstreams, at);
  return {
    ...shown(price),
    listed: shortDecimal(price.listedMicros),
    cost: cost === undefined ? null : formatMicros(cost),
    margin: cost === undefined ? null : formatMicros(price.amountMicros - cost),
    is_change: changed.includes(price),
  };
}

/** The most that an upstream of the model takes for what the price is for, rounded up, so that no loss is shown as none. */
function dearestCost(model: string, price: ProposedPrice, upstreams: TextUpstreams, at: Date): bigint | undefined {
  let dearest: bigint | undefined;
  for (const { costs } of upstreams.all) {
    const worth = costs?.of(model)?.worthOf(price.unit, price.variant, price.fromInputTokens, at.getTime());
    if (!worth) continue;
    const [numerator, denominator] = worth;
    const cost = (numerator * price.perQuantity + denominator - 1n) / denominator;
    if (dearest === undefined || cost > dearest) dearest = cost;
  }
  return dearest;
}
