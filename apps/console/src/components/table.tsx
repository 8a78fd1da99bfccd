import { type MouseEvent, type ReactNode, useState } from 'react';
import { formatCount } from '../format/number';
import type { Moment } from '../format/time';
import { readStored, writeStored } from '../preferences/stored';
import { useLanguage, useMessages } from '../messages/language';
import { Icon } from './icons';
import { Menu } from './menu';
import { Card } from './page';
import { Empty } from './states';
import { Money, orNone, Time } from './values';

/**
 * A column: what stands above it and what in each row, nothing being a dash. The first holds the link of the row. Numbers, amounts
 * and moments are named as such, and look alike in every table.
 */
export type Column<Row> = {
  readonly id: string;
  readonly head: string;
  readonly isNumber?: boolean;
  /** Shown only on request. */
  readonly isHidden?: boolean;
  /** What can be done with a row. It is always shown, last, under a head that is only read out. */
  readonly isActions?: boolean;
} & (
  | { readonly cell: (row: Row) => ReactNode }
  | { readonly count: (row: Row) => number | null | undefined }
  | { readonly money: (row: Row) => string | null | undefined }
  | { readonly time: (row: Row) => Moment | null | undefined }
);

function classOf<Row>(column: Column<Row>): string | undefined {
  const isNumber = 'count' in column || 'money' in column || column.isNumber;
  return isNumber ? 'number' : column.isActions ? 'row-actions' : undefined;
}

function Cell<Row>({ column, row }: { readonly column: Column<Row>; readonly row: Row }) {
  const { language } = useLanguage();
  if ('cell' in column) return orNone(column.cell(row));
  if ('count' in column) return orNone(given(column.count(row), (count) => formatCount(count, language)));
  if ('money' in column) return orNone(given(column.money(row), (amount) => <Money amount={amount} form="full" />));
  return orNone(given(column.time(row), (at) => <Time at={at} />));
}

const given = <Value,>(value: Value | null | undefined, show: (value: Value) => ReactNode): ReactNode =>
  value === null || value === undefined ? null : show(value);

const hiddenName = (name: string) => `columns.${name}`;

/** Which columns the reader has hidden, remembered for the table of this name. */
function useHidden<Row>(name: string, columns: readonly Column<Row>[]): [ReadonlySet<string>, (id: string) => void] {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(() => {
    const stored = readStored(hiddenName(name));
    return new Set(stored?.split(',') ?? columns.filter((column) => column.isHidden).map(({ id }) => id));
  });
  const toggle = (id: string) => {
    const next = new Set(hidden);
    if (!next.delete(id)) next.add(id);
    writeStored(hiddenName(name), [...next].join(','));
    setHidden(next);
  };
  return [hidden, toggle];
}

/** A click anywhere in a row follows the link in its first cell, unless it was meant for something else. */
function openRow(event: MouseEvent<HTMLTableRowElement>): void {
  const target = event.target as HTMLElement;
  if (target.closest('a, button, input, select, label, summary') || getSelection()?.toString()) return;
  event.currentTarget.querySelector<HTMLAnchorElement>('a[href]')?.click();
}

/** What tells rows apart must be said where they have no id. */
export type Keyed<Row> = Row extends { readonly id: string } ? unknown : { readonly keyOf: (row: Row) => string };

interface TableOf<Row> {
  readonly label: string;
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf?: ((row: Row) => string) | undefined;
  readonly isLinked?: boolean;
  /** The words in place of a table without rows. */
  readonly empty?: string;
}

const idOf = (row: unknown): string => (row as { readonly id: string }).id;

/** A table that scrolls inside its own region, with columns that can be hidden where `name` keeps the choice. */
export const Table: <Row>(table: TableOf<Row> & Keyed<Row>) => ReactNode = RowTable;

/** A table alone in its card. */
export const TableCard: <Row>(table: TableOf<Row> & Keyed<Row>) => ReactNode = <Row,>(table: TableOf<Row>) => (
  <Card title={table.label} isFlush>
    <RowTable {...table} />
  </Card>
);

/** The same, where the type of the rows is not known yet. */
export function RowTable<Row>({ label, name, columns, rows, keyOf = idOf, isLinked = false, empty }: TableOf<Row>) {
  const [hidden, toggle] = useHidden(name, columns);
  if (empty !== undefined && rows.length === 0) return <Empty>{empty}</Empty>;
  const shown = columns.filter(({ id, isActions }, index) => index === 0 || isActions || !hidden.has(id));
  const choosable = columns.slice(1).filter(({ isActions }) => !isActions);
  return (
    <div className="table-region" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {shown.map((column, index) => (
              <th key={column.id} scope="col" className={classOf(column)}>
                {index === shown.length - 1 && columns.length > 3 ? (
                  <span className="column-head">
                    <Head of={column} />
                    <ColumnsMenu columns={choosable} hidden={hidden} onToggle={toggle} />
                  </span>
                ) : (
                  <Head of={column} />
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} className={isLinked ? 'linked' : undefined} {...(isLinked && { onClick: openRow })}>
              {shown.map((column, index) =>
                index === 0 ? (
                  <th key={column.id} scope="row">
                    <Cell column={column} row={row} />
                  </th>
                ) : (
                  <td key={column.id} className={classOf(column)}>
                    <Cell column={column} row={row} />
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const Head = <Row,>({ of: { head, isActions } }: { readonly of: Column<Row> }) =>
  isActions ? <span className="visually-hidden">{head}</span> : head;

function ColumnsMenu<Row>({
  columns,
  hidden,
  onToggle,
}: {
  readonly columns: readonly Column<Row>[];
  readonly hidden: ReadonlySet<string>;
  readonly onToggle: (id: string) => void;
}) {
  const messages = useMessages();
  return (
    <Menu label={messages.common.columns} button={<Icon name="more" />}>
      {columns.map(({ id, head }) => (
        <button
          key={id}
          type="button"
          role="menuitemcheckbox"
          aria-checked={!hidden.has(id)}
          tabIndex={-1}
          onClick={() => onToggle(id)}
        >
          <span aria-hidden="true">{hidden.has(id) ? '☐' : '☑'}</span>
          {head}
        </button>
      ))}
    </Menu>
  );
}
