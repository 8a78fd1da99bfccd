import type { ReactNode } from 'react';

interface TileProps {
  readonly label: string;
  readonly value: ReactNode;
  readonly note?: ReactNode;
}

/** A number with its name; linked by the component that wraps it. */
export const Tile = ({ label, value, note }: TileProps) => (
  <div className="tile">
    <span className="muted small-text">{label}</span>
    <span className="tile-value">{value}</span>
    {note !== undefined && <span className="muted small-text">{note}</span>}
  </div>
);
