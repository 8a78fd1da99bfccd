import { lazy, Suspense, useEffect, useState } from 'react';
import { onInterruption } from '../api/call';
import { queryClient, type Session, sessionQuery } from '../api/queries';
import { readyWords } from '../messages/words';
import { followOtherTabs, isSamePerson } from './other-tabs';

const SessionWindow = lazy(async () => {
  const [window] = await Promise.all([import('./session-window'), readyWords('signIn')]);
  return window;
});

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

/**
 * Asks the user to sign in again when the session ended while the page was in use, above the page as it is, and lets the
 * interrupted calls continue. Another user gets a new page: nothing of the first one stays.
 */
export function SessionOver() {
  const [waiting, setWaiting] = useState<readonly Waiting[]>([]);
  useEffect(() => {
    onInterruption({
      signIn: () => new Promise<void>((resolve, reject) => setWaiting((before) => [...before, { resolve, reject }])),
    });
    return () => onInterruption({ signIn: () => Promise.reject(new Error('no user was signed in')) });
  }, []);
  const enter = (session: Session) => {
    if (!isSamePerson(session)) return location.reload();
    queryClient.setQueryData(sessionQuery.queryKey, session);
    setWaiting([]);
    for (const { resolve } of waiting) resolve();
  };
  useEffect(() => followOtherTabs(enter));
  if (waiting.length === 0) return null;
  return (
    <Suspense>
      <SessionWindow onEnter={enter} />
    </Suspense>
  );
}
