import { type MouseEvent, type ReactNode, useState } from 'react';
import { readStored, writeStored } from '../preferences/stored';
import { useMessages } from '../messages/language';
import { Icon } from './icons';
import { Menu } from './menu';
import { orNone } from './values';

/** A column: what stands above it and what in each row, nothing being a dash. The first holds the link of the row. */
export interface Column<Row> {
  readonly id: string;
  readonly head: string;
  readonly cell: (row: Row) => ReactNode;
  readonly isNumber?: boolean;
  /** Shown only on request. */
  readonly isHidden?: boolean;
  /** What can be done with a row. It is always shown, last, under a head that is only read out. */
  readonly isActions?: boolean;
}

const classOf = <Row,>({ isNumber, isActions }: Column<Row>): string | undefined =>
  isNumber ? 'number' : isActions ? 'row-actions' : undefined;

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

/** A table that scrolls inside its own region, with columns that can be hidden where `name` keeps the choice. */
export function Table<Row>({
  label,
  name,
  columns,
  rows,
  keyOf,
  isLinked = false,
}: {
  readonly label: string;
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly isLinked?: boolean;
}) {
  const [hidden, toggle] = useHidden(name, columns);
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
                    {orNone(column.cell(row))}
                  </th>
                ) : (
                  <td key={column.id} className={classOf(column)}>
                    {orNone(column.cell(row))}
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
