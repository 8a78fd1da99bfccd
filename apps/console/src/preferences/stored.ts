/** What the console keeps in the browser: never a secret, only how its reader likes it. */
const PREFIX = 'console.';

/** The text kept under a name; null where none is, or where the browser keeps nothing. */
export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/** Keeps a text, or with null forgets it. A browser that keeps nothing loses only the reader's comfort. */
export function writeStored(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
  } catch {
    // Private windows of some browsers refuse to keep anything.
  }
}

/** Calls back whenever another tab keeps another text under a name. Answers what ends that. */
export function onStored(name: string, change: () => void): () => void {
  const heard = ({ key }: StorageEvent) => key === PREFIX + name && change();
  addEventListener('storage', heard);
  return () => removeEventListener('storage', heard);
}
