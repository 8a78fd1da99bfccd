import { Link } from '@tanstack/react-router';
import { type KeyboardEvent, useRef, useState } from 'react';
import type { ConsoleTask } from '../../api/types';
import { Status } from '../../components/status';
import { Money, Time } from '../../components/values';
import { useMessages } from '../../messages/language';
import { Preview, togglePreview } from './media';
import { Progress } from './progress';

/** How far an arrow moves: sideways one, up and down one row of the grid as it is. */
function stepOf(key: string, tiles: readonly HTMLElement[]): number | null {
  const top = tiles[0]?.offsetTop;
  const inRow = Math.max(
    1,
    tiles.findIndex((tile) => tile.offsetTop !== top),
  );
  const perRow = tiles.every((tile) => tile.offsetTop === top) ? tiles.length : inRow;
  return { ArrowRight: 1, ArrowLeft: -1, ArrowDown: perRow, ArrowUp: -perRow }[key] ?? null;
}

/** Tasks as images. Arrows move between them, Space plays, Enter opens. */
export function Gallery({ items, label }: { readonly items: readonly ConsoleTask[]; readonly label: string }) {
  const grid = useRef<HTMLUListElement>(null);
  const [current, setCurrent] = useState(0);
  const tiles = () => [...(grid.current?.querySelectorAll<HTMLElement>('a.tile-link') ?? [])];
  const press = (event: KeyboardEvent) => {
    const all = tiles();
    const index = all.indexOf(event.target as HTMLElement);
    if (index === -1) return;
    if (event.key === ' ') {
      event.preventDefault();
      togglePreview(all[index]!.closest('li')!);
      return;
    }
    const step = stepOf(event.key, all);
    const next = step === null ? { Home: 0, End: all.length - 1 }[event.key] : index + step;
    if (next === undefined || !all[next]) return;
    event.preventDefault();
    setCurrent(next);
    all[next].focus();
  };
  return (
    <ul className="gallery" ref={grid} aria-label={label} onKeyDown={press}>
      {items.map((task, index) => (
        <li key={task.id}>
          <Tile
            task={task}
            isCurrent={index === Math.min(current, items.length - 1)}
            onFocus={() => setCurrent(index)}
          />
        </li>
      ))}
    </ul>
  );
}

interface TileProps {
  readonly task: ConsoleTask;
  readonly isCurrent: boolean;
  readonly onFocus: () => void;
}

function Tile({ task, isCurrent, onFocus }: TileProps) {
  const { tasks } = useMessages();
  const caption = task.prompt ?? tasks.noPrompt;
  return (
    <article className="gallery-tile">
      <div className="preview">
        <Preview task={task} />
        {!task.is_final && <Progress task={task} />}
      </div>
      <div className="gallery-caption">
        <Link
          to="/tasks"
          search={(before) => ({ ...before, task: task.id })}
          className="tile-link"
          tabIndex={isCurrent ? 0 : -1}
          onFocus={onFocus}
          title={caption}
        >
          {caption}
        </Link>
        <p className="row between small-text muted">
          <span className="break">{task.model}</span>
          <Money amount={task.amount} />
        </p>
        <p className="row between small-text muted">
          <Status of={task.status} />
          <Time at={task.created_at} />
        </p>
      </div>
    </article>
  );
}
