import { useSyncExternalStore } from 'react';

let said = { text: '', count: 0 };
const listeners = new Set<() => void>();

/** Has a screen reader say something when it has finished its sentence; the same again is said again. */
export function announce(text: string): void {
  said = { text, count: said.count + 1 };
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** The one place of the page that is read out when it changes. */
export function LiveRegion() {
  const { text, count } = useSyncExternalStore(subscribe, () => said);
  return (
    <div className="visually-hidden" aria-live="polite" data-testid="live">
      <span key={count}>{text}</span>
    </div>
  );
}
