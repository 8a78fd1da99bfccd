import { useSyncExternalStore } from 'react';

let said = '';
const listeners = new Set<() => void>();

/** Has a screen reader say something when it has finished its sentence. */
export function announce(text: string): void {
  said = text;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** The one place of the page that is read out when it changes. */
export function LiveRegion() {
  const text = useSyncExternalStore(subscribe, () => said);
  return (
    <div className="visually-hidden" aria-live="polite" data-testid="live">
      {text}
    </div>
  );
}
