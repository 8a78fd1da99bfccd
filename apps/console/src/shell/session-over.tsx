import { lazy, Suspense, useEffect, useState } from 'react';
import { onInterruption } from '../api/call';
import { queryClient, type Session, sessionQuery } from '../api/queries';
import { readyWords } from '../messages/words';
import { followOtherTabs, isSamePerson } from './other-tabs';

const SessionWindow = lazy(async () => {
  const [window] = await Promise.all([import('./session-window'), readyWords('signIn')]);
  return window;
});

/** A call that waits for a session. */
interface Waiting {
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

/**
 * Asks who was signed in to sign in again when the session ended under their hands, above the page as it stands, and lets
 * the calls that met its end go on. Who signs in as somebody else gets a new page: nothing of the other stays.
 */
export function SessionOver() {
  const [waiting, setWaiting] = useState<readonly Waiting[]>([]);
  useEffect(() => {
    onInterruption({
      signIn: () => new Promise<void>((resolve, reject) => setWaiting((before) => [...before, { resolve, reject }])),
    });
    return () => onInterruption({ signIn: () => Promise.reject(new Error('nobody was signed in')) });
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
