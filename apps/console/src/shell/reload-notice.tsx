import { useSyncExternalStore } from 'react';
import { Button } from '../components/button';
import { Notice } from '../components/page';
import { useMessages } from '../messages/language';

let isNeeded = false;
const listeners = new Set<() => void>();

/** Has every page say that the gateway is newer than it. */
export function needReload(): void {
  isNeeded = true;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Asks to reload after an update of the gateway, instead of doing it under the hands of the reader. */
export function ReloadNotice() {
  const { shell } = useMessages();
  if (!useSyncExternalStore(subscribe, () => isNeeded)) return null;
  return (
    <Notice tone="info">
      <div className="row between">
        <span>{shell.reload}</span>
        <Button look="small primary" label={shell.reloadNow} onClick={() => location.reload()} />
      </div>
    </Notice>
  );
}
