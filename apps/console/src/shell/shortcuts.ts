import { useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { readStored, writeStored } from '../preferences/stored';
import { entityLink } from './entity-links';

/** Where `g` and a letter lead. */
export const PLACES = { o: '/', t: '/tasks', k: '/keys', p: '/playground', u: '/usage', b: '/billing' } as const;

const SEQUENCE_MS = 1_000;

export const areShortcutsOn = (): boolean => readStored('shortcuts') !== 'off';
export const turnShortcuts = (on: boolean): void => writeStored('shortcuts', on ? null : 'off');

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, select, textarea, [contenteditable]') !== null;

/** A key pressed alone, outside of fields. */
const isPlain = (event: KeyboardEvent): boolean =>
  !isField(event.target) && !event.ctrlKey && !event.metaKey && !event.altKey;

/** Puts the focus on the link of the row that comes so many rows after the one with the focus. */
function moveRow(step: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('tbody tr.linked th a[href]')];
  const current = links.findIndex((link) => link.closest('tr')?.contains(document.activeElement));
  const next = current === -1 ? 0 : Math.max(0, Math.min(links.length - 1, current + step));
  links[next]?.focus();
}

/** The keyboard for all pages. Single letters mean nothing while a field has the focus, or a window is open. */
export function useShortcuts({
  onSearch,
  onHelp,
}: {
  readonly onSearch: (text?: string) => void;
  readonly onHelp: () => void;
}) {
  const navigate = useNavigate();
  const { history } = useRouter();
  const goSince = useRef(0);
  const actions = useRef({ onSearch, onHelp });
  actions.current = { onSearch, onHelp };
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (document.querySelector('dialog[open]')) return;
      if (event.key === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        actions.current.onSearch();
        return;
      }
      if (!isPlain(event) || !areShortcutsOn()) return;
      const place =
        performance.now() - goSince.current < SEQUENCE_MS ? PLACES[event.key as keyof typeof PLACES] : undefined;
      goSince.current = event.key === 'g' ? performance.now() : 0;
      const act =
        place !== undefined
          ? () => void navigate({ to: place })
          : {
              '/': () => actions.current.onSearch(),
              '?': () => actions.current.onHelp(),
              j: () => moveRow(1),
              k: () => moveRow(-1),
            }[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    const paste = (event: ClipboardEvent) => {
      const text = event.clipboardData?.getData('text').trim() ?? '';
      const link = isField(event.target) ? null : entityLink(text);
      if (link) history.push(link.href);
    };
    document.addEventListener('keydown', press);
    document.addEventListener('paste', paste);
    return () => {
      document.removeEventListener('keydown', press);
      document.removeEventListener('paste', paste);
    };
  }, [navigate, history]);
}
