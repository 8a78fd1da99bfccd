import { lazy, Suspense, useEffect, useState } from 'react';
import { onInterruption } from '../api/call';
import { queryClient, sessionQuery } from '../api/queries';
import { ProofRefused } from '../api/api-error';

const ProofWindow = lazy(() => import('./proof-window'));

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

/** Asks the user to confirm their identity when a call needs it, then lets the call continue. Other calls wait for the same answer. */
export function ProofDialog() {
  const [waiting, setWaiting] = useState<readonly Waiting[]>([]);
  useEffect(() => {
    onInterruption({
      proof: () => new Promise<void>((resolve, reject) => setWaiting((before) => [...before, { resolve, reject }])),
    });
  }, []);
  if (waiting.length === 0) return null;
  const end = (settle: (each: Waiting) => void) => {
    setWaiting([]);
    for (const each of waiting) settle(each);
  };
  return (
    <Suspense>
      <ProofWindow
        onProved={(session) => {
          queryClient.setQueryData(sessionQuery.queryKey, session);
          end(({ resolve }) => resolve());
        }}
        onClose={() => end(({ reject }) => reject(new ProofRefused('no proof was given')))}
      />
    </Suspense>
  );
}
