import type { ReactNode } from 'react';
import type { CallInput } from '../api/call';
import { type ItemOf, type ListRoute, useList } from '../api/queries';
import { useKeptParts } from '../api/kept-parts';
import { useMessages } from '../messages/language';
import { Button } from './button';
import { type Column, type Keyed, RowTable } from './table';
import { Empty, Failure, Skeleton, Stale } from './states';

const FIRST_HEIGHT = 320;

/** A list from the server in a card, loaded in parts: never more than one request per part. */
export function ListCard<Route extends ListRoute>({
  route,
  input,
  label,
  name,
  columns,
  keyOf,
  empty,
  isLinked = false,
  head,
  children,
}: Keyed<ItemOf<Route>> & {
  readonly route: Route;
  readonly input: CallInput<Route>;
  readonly label: string;
  readonly name: string;
  readonly columns: readonly Column<ItemOf<Route>>[];
  readonly keyOf?: (item: ItemOf<Route>) => string;
  /** Shown when there is nothing: the words, or more than these. */
  readonly empty: ReactNode;
  readonly isLinked?: boolean;
  readonly head?: ReactNode;
  /** Shows the items in another form than a table. */
  readonly children?: (items: readonly ItemOf<Route>[]) => ReactNode;
}) {
  const list = useList(route, input);
  useKeptParts(name, list);
  const items = list.data?.pages.flatMap((page): readonly ItemOf<Route>[] => page.items);
  if (!items) {
    if (list.error) return <Failure of={list.error} onRetry={() => void list.refetch()} />;
    return <Skeleton height={FIRST_HEIGHT} />;
  }
  return (
    <section className={list.isPlaceholderData ? 'card dimmed' : 'card'} aria-busy={list.isFetching}>
      {head !== undefined && <div className="card-head">{head}</div>}
      <Stale query={list} />
      {items.length === 0 && !list.hasNextPage
        ? orEmpty(empty)
        : (children?.(items) ?? (
            <RowTable label={label} name={name} columns={columns} rows={items} keyOf={keyOf} isLinked={isLinked} />
          ))}
      {items.length > 0 && (
        <ListFoot
          count={items.length}
          hasMore={list.hasNextPage}
          isLoading={list.isFetchingNextPage}
          onMore={() => void list.fetchNextPage()}
        />
      )}
    </section>
  );
}

const orEmpty = (shown: ReactNode): ReactNode => (typeof shown === 'string' ? <Empty>{shown}</Empty> : shown);

interface ListFootProps {
  readonly count: number;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly onMore: () => void;
}

function ListFoot({ count, hasMore, isLoading, onMore }: ListFootProps) {
  const { common } = useMessages();
  return (
    <div className="table-foot">
      <span>{hasMore ? common.firstOfMore(count) : common.all(count)}</span>
      {hasMore && (
        <Button look="small" label={isLoading ? common.loading : common.more} disabled={isLoading} onClick={onMore} />
      )}
    </div>
  );
}
