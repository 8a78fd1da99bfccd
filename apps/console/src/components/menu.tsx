import { type KeyboardEvent, type ReactNode, useId, useRef } from 'react';

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
const GAP_PX = 6;

interface MenuProps {
  /** Its label, when the button has no text. */
  readonly label: string;
  readonly button: ReactNode;
  readonly buttonClass?: string;
  readonly children: ReactNode;
}

/** A menu over the browser's popover: arrows move inside it, Escape and a click elsewhere close it. */
export function Menu({ label, button, buttonClass = 'icon-button', children }: MenuProps) {
  const id = useId();
  const opener = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const items = () => [...(menu.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])];
  const place = () => {
    if (!opener.current || !menu.current) return;
    const at = opener.current.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = menu.current;
    const isBelow = at.bottom + GAP_PX + offsetHeight <= innerHeight || at.top < offsetHeight;
    menu.current.style.top = `${isBelow ? at.bottom + GAP_PX : at.top - GAP_PX - offsetHeight}px`;
    menu.current.style.left = `${Math.max(8, Math.min(at.right - offsetWidth, innerWidth - offsetWidth - 8))}px`;
  };
  const move = (event: KeyboardEvent) => {
    const all = items();
    const step = STEPS[event.key];
    const index = all.indexOf(document.activeElement as HTMLElement);
    const target =
      step !== undefined
        ? all[(index + step + all.length) % all.length]
        : event.key === 'Home'
          ? all[0]
          : event.key === 'End'
            ? all.at(-1)
            : undefined;
    if (event.key === 'Tab') menu.current?.hidePopover();
    if (!target) return;
    event.preventDefault();
    target.focus();
  };
  return (
    <>
      <button
        ref={opener}
        type="button"
        className={buttonClass}
        aria-label={label}
        aria-haspopup="menu"
        popoverTarget={id}
        onClick={(event) => event.stopPropagation()}
      >
        {button}
      </button>
      <div
        ref={menu}
        id={id}
        role="menu"
        aria-label={label}
        className="menu"
        popover="auto"
        onToggle={(event) => {
          if (event.newState !== 'open') return;
          place();
          items()[0]?.focus();
        }}
        onKeyDown={move}
        onClick={(event) => {
          event.stopPropagation();
          if ((event.target as HTMLElement).closest('[role^=menuitem]')) menu.current?.hidePopover();
        }}
      >
        {children}
      </div>
    </>
  );
}

export const MenuItem = ({ onChoose, children }: { readonly onChoose: () => void; readonly children: ReactNode }) => (
  <button type="button" role="menuitem" tabIndex={-1} onClick={onChoose}>
    {children}
  </button>
);

interface MenuChoiceProps {
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  readonly children: ReactNode;
}

export const MenuChoice = ({ isChosen, onChoose, children }: MenuChoiceProps) => (
  <button type="button" role="menuitemradio" aria-checked={isChosen} tabIndex={-1} onClick={onChoose}>
    <span aria-hidden="true">{isChosen ? '●' : '○'}</span>
    {children}
  </button>
);
