import { useSyncExternalStore } from 'react';
import { readStored, writeStored } from './stored';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const listeners = new Set<() => void>();
const systemDark = matchMedia('(prefers-color-scheme: dark)');

function storedTheme(): Theme {
  const stored = readStored('theme');
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

/** Chooses a theme for this browser; `system` follows the machine again. */
export function chooseTheme(theme: Theme): void {
  writeStored('theme', theme === 'system' ? null : theme);
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  systemDark.addEventListener('change', listener);
  return () => {
    listeners.delete(listener);
    systemDark.removeEventListener('change', listener);
  };
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, storedTheme);

/** Whether the page is dark now; for what is drawn on a canvas. */
export const useIsDark = (): boolean =>
  useSyncExternalStore(subscribe, () => {
    const theme = storedTheme();
    return theme === 'system' ? systemDark.matches : theme === 'dark';
  });
