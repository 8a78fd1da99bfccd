import { useEffect } from 'react';
import { liveTasks } from '../api/live-tasks';
import { useMessages } from '../messages/language';
import { announce } from './announce';

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
