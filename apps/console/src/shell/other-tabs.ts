import { ApiError } from '../api/api-error';
import { sendRaw } from '../api/call';
import { queryClient, type Session, sessionQuery } from '../api/queries';
import { onStored, writeStored } from '../preferences/stored';

/** All tabs share one cookie: what one of them does to the session is done to all. */
const CHANGE = 'session.change';

/** Has the other tabs look again who is signed in. */
export const tellOtherTabs = (): void => writeStored(CHANGE, String(Date.now()));

/** Whether a session is of whom the pages show now: the same person or key, in the same account. */
export function isSamePerson(session: Session): boolean {
  const shown = queryClient.getQueryData(sessionQuery.queryKey);
  const of = ({ user, account, roles }: Session) => [user?.id, account?.id, ...roles].join();
  return shown === undefined || of(shown) === of(session);
}

/**
 * Looks who is signed in whenever another tab has changed it: nobody, and this tab leaves for the sign-in as well; or
 * somebody, and `enter` gets the session. Answers what ends that.
 */
export function followOtherTabs(enter: (session: Session) => void): () => void {
  const look = async (): Promise<void> => {
    try {
      enter((await (await sendRaw('GET /session', {}, {})).json()) as Session);
    } catch (failure) {
      const isOver = failure instanceof ApiError && failure.status === 401;
      // A new document: nothing of the session stays in memory.
      if (isOver && queryClient.getQueryData(sessionQuery.queryKey)) location.assign('/console/sign-in');
    }
  };
  return onStored(CHANGE, () => void look());
}
