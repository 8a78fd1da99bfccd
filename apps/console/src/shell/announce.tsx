import { useEffect, useSyncExternalStore } from 'react';
import { liveTasks } from '../api/live-tasks';
import { useMessages } from '../messages/language';

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

const HALF = 50;

/** Reads out how followed tasks go: when they start, at the half, and their end. */
export function useTaskAnnouncements(): void {
  const { shell, status } = useMessages();
  useEffect(
    () =>
      liveTasks.onChange((task, before) => {
        if (!before) return;
        if (task.is_final && !before.is_final) announce(shell.announceEnd(task.model, status[task.status]));
        else if (task.progress >= HALF && before.progress < HALF) announce(shell.announceHalf(task.model));
        else if (task.status !== before.status) announce(shell.announceStart(task.model));
      }),
    [shell, status],
  );
}
