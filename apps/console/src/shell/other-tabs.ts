import { ApiError } from '../api/api-error';
import { sendRaw } from '../api/call';
import { queryClient, type Session, sessionQuery } from '../api/queries';
import { onStored, writeStored } from '../preferences/stored';

/** All tabs share one cookie: what one of them does to the session is done to all. */
const CHANGE = 'session.change';

/** Makes the other tabs read the session again. */
export const tellOtherTabs = (): void => writeStored(CHANGE, String(Date.now()));

/** Whose drafts, runs and places in lists the tab keeps. */
const OWNER = 'console.owner';

/** Forgets what the tab keeps of another user: a session may have ended by itself, and somebody else signed in here. */
export function claimTab({ user, account, roles }: Session): void {
  const owner = user?.id ?? [account?.id, ...roles].join();
  try {
    if (sessionStorage.getItem(OWNER) === owner) return;
    sessionStorage.clear();
    sessionStorage.setItem(OWNER, owner);
  } catch {
    // A browser that keeps nothing has nothing to forget.
  }
}

/** Goes to the sign-in when the session has ended: nothing of it stays in what the tab keeps or, with a new document, in memory. */
export function leave(): void {
  try {
    sessionStorage.clear();
  } catch {
    // A browser that keeps nothing has nothing to forget.
  }
  location.assign('/console/sign-in');
}

/** Whether a session belongs to the user shown now: the same person or key, in the same account. */
export function isSamePerson(session: Session): boolean {
  const shown = queryClient.getQueryData(sessionQuery.queryKey);
  const of = ({ user, account, roles }: Session) => [user?.id, account?.id, ...roles].join();
  return shown === undefined || of(shown) === of(session);
}

/**
 * Reads the session whenever another tab has changed it: without one, this tab goes to the sign-in as well; otherwise `enter`
 * gets it. Returns a function that stops this.
 */
export function followOtherTabs(enter: (session: Session) => void): () => void {
  const look = async (): Promise<void> => {
    try {
      enter((await (await sendRaw('GET /session', {}, {})).json()) as Session);
    } catch (failure) {
      const isOver = failure instanceof ApiError && failure.status === 401;
      if (isOver && queryClient.getQueryData(sessionQuery.queryKey)) leave();
    }
  };
  return onStored(CHANGE, () => void look());
}
