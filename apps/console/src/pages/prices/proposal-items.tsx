import type { ReactNode } from 'react';
import type { AdminPriceProposalDetails, AdminProposalItem } from '../../api/types';
import { Button } from '../../components/button';
import { Card } from '../../components/page';
import { Empty } from '../../components/states';
import { type Column, Table } from '../../components/table';
import { Money, None } from '../../components/values';
import { toMicros } from '../../format/money';
import { formatShare } from '../../format/number';
import { useLanguage, useMessages } from '../../messages/language';
import { amountFor, PriceName, sortOf } from './price-parts';

/** What cannot be applied, whatever a person says. */
const isHopeless = ({ missing, proposed }: AdminProposalItem): boolean =>
  missing.length > 0 || !proposed.some(({ is_change: isChange }) => isChange);

/** What a list says of models of ours, beside what they cost now, each to be chosen. */
export function ProposalItems({
  of: proposal,
  chosen,
  isOpen,
  onChoose,
  onApply,
  onSimulate,
  onRename,
}: {
  readonly of: AdminPriceProposalDetails;
  readonly chosen: ReadonlySet<string>;
  readonly isOpen: boolean;
  readonly onChoose: (chosen: ReadonlySet<string>) => void;
  readonly onApply: () => void;
  readonly onSimulate: () => void;
  readonly onRename: (id: string) => void;
}) {
  const { common } = useMessages();
  const { proposals: words } = useMessages().selling;
  const { items } = proposal;
  const able = items.filter((item) => !isHopeless(item));
  const choose = (ids: readonly AdminProposalItem[]) => onChoose(new Set(ids.map(({ id }) => id)));
  return (
    <Card
      title={words.models}
      actions={
        isOpen &&
        able.length > 0 && (
          <>
            <span className="muted small-text">{words.chosen(chosen.size, able.length)}</span>
            <Button
              look="small quiet"
              label={words.chooseSafe}
              onClick={() => choose(able.filter((each) => each.ticked))}
            />
            <Button look="small quiet" label={words.chooseAll} onClick={() => choose(able)} />
            <Button look="small quiet" label={words.chooseNone} onClick={() => choose([])} />
            <Button look="small" label={common.simulateMonth} disabled={chosen.size === 0} onClick={onSimulate} />
            <Button look="small primary" label={words.apply} disabled={chosen.size === 0} onClick={onApply} />
          </>
        )
      }
      isFlush
    >
      {items.length === 0 ? (
        <Empty>{words.noModels}</Empty>
      ) : (
        <Items
          items={items}
          chosen={chosen}
          onToggle={
            isOpen
              ? (id) =>
                  onChoose(
                    chosen.has(id) ? new Set([...chosen].filter((each) => each !== id)) : new Set([...chosen, id]),
                  )
              : undefined
          }
          onRename={isOpen ? onRename : undefined}
        />
      )}
    </Card>
  );
}

type Proposed = AdminProposalItem['proposed'][number];

interface ItemsProps {
  readonly items: readonly AdminProposalItem[];
  readonly chosen: ReadonlySet<string>;
  readonly onToggle: ((id: string) => void) | undefined;
  readonly onRename: ((id: string) => void) | undefined;
}

function Items({ items, chosen, onToggle, onRename }: ItemsProps) {
  const { selling, common } = useMessages();
  const { proposals: words } = selling;
  /** One line for each price of the model. */
  const lines = (show: (price: Proposed, item: AdminProposalItem) => ReactNode) => (item: AdminProposalItem) => (
    <span className="price-lines">
      {item.proposed.map((price) => (
        <span key={sortOf(price)} className={price.is_change ? undefined : 'muted'}>
          {show(price, item)}
        </span>
      ))}
    </span>
  );
  const columns: Column<AdminProposalItem>[] = [
    {
      id: 'model',
      head: common.model,
      cell: (item) => (
        <span className="stack tight">
          {onToggle ? (
            <label className="check">
              <input
                type="checkbox"
                aria-label={words.choose(item.model ?? item.id)}
                disabled={isHopeless(item)}
                checked={chosen.has(item.id)}
                onChange={() => onToggle(item.id)}
              />
              <span>{item.model}</span>
            </label>
          ) : (
            item.model
          )}
          <EntryId of={item} onRename={onRename} />
          <Flags of={item.flags} />
        </span>
      ),
    },
    { id: 'price', head: common.price, cell: lines((price) => <PriceName of={price} />) },
    {
      id: 'listed',
      head: words.listed,
      isNumber: true,
      cell: lines(({ listed }) => <Money amount={listed} unit="USD" />),
    },
    {
      id: 'book',
      head: words.book,
      isNumber: true,
      cell: lines((price, item) => <BookPrice of={price} item={item} />),
    },
    {
      id: 'proposed',
      head: words.proposed,
      isNumber: true,
      cell: lines(({ amount, is_change: isChange }) => (
        <span className={isChange ? 'strong' : undefined}>
          <Money amount={amount} />
        </span>
      )),
    },
    {
      id: 'cost',
      head: common.cost,
      isNumber: true,
      cell: lines(({ cost }) => (cost === null ? <None /> : <Money amount={cost} />)),
    },
    { id: 'margin', head: common.margin, isNumber: true, cell: lines((price) => <MarginShare of={price} />) },
  ];
  return <Table label={words.models} name="proposal-items" columns={columns} rows={items} />;
}

interface EntryIdProps {
  readonly of: AdminProposalItem;
  readonly onRename: ((id: string) => void) | undefined;
}

function EntryId({ of: item, onRename }: EntryIdProps) {
  const { proposals: words } = useMessages().selling;
  if (!onRename) return <span className="muted tiny break">{item.id}</span>;
  return (
    <button type="button" className="link tiny break" title={words.rename} onClick={() => onRename(item.id)}>
      {item.id}
    </button>
  );
}

/** What should be looked at before a yes. */
export function Flags({ of: flags }: { readonly of: readonly string[] }) {
  const { proposals: words } = useMessages().selling;
  if (flags.length === 0) return null;
  const bad = new Set(['below_cost', 'incomplete_band', 'no_price', 'from_zero', 'free']);
  return (
    <span className="row flags">
      {flags.map((flag) => (
        <span key={flag} className={bad.has(flag) ? 'status bad' : 'status'}>
          {words.flags[flag] ?? flag}
        </span>
      ))}
    </span>
  );
}

/** What the book says for the same. */
function BookPrice({ of: price, item }: { readonly of: Proposed; readonly item: AdminProposalItem }) {
  const before = item.book.find((each) => sortOf(each) === sortOf(price));
  return before ? <Money amount={amountFor(before, price.per_quantity)} /> : <None />;
}

/** What stays of a price once its cost is paid. */
function MarginShare({ of: { margin, amount } }: { readonly of: Proposed }) {
  const { language } = useLanguage();
  if (margin === null) return <None />;
  const price = Number(toMicros(amount));
  const share = price === 0 ? null : Number(toMicros(margin)) / price;
  return (
    <span className={margin.startsWith('-') ? 'bad-text' : 'good-text'}>
      <Money amount={margin} />
      {share !== null && ` (${formatShare(share, language)})`}
    </span>
  );
}
