import { useRouterState } from '@tanstack/react-router';
import type { Session } from '../api/queries';
import { Button } from '../components/button';
import { Dialog } from '../components/dialog';
import { useMessages } from '../messages/language';
import { Ways } from '../pages/sign-in/ways';
import { tellOtherTabs } from './other-tabs';

/** The ways to sign in, above a page whose session is over. It closes by signing in, or by leaving to the sign-in page. */
export default function SessionWindow({ onEnter }: { readonly onEnter: (session: Session) => void }) {
  const { shell, signIn } = useMessages();
  const to = useRouterState({ select: ({ location: { publicHref } }) => publicHref });
  const leave = () => location.assign(`/console/sign-in?${new URLSearchParams({ to }).toString()}`);
  return (
    <Dialog title={shell.sessionOver} onClose={leave} mayLeave={false}>
      <div className="stack">
        <p>{shell.sessionOverText}</p>
        <Ways
          to={to}
          onEnter={(session) => {
            tellOtherTabs();
            onEnter(session);
          }}
        />
        <p>
          <Button look="quiet" label={signIn.asAnotherUser} onClick={leave} />
        </p>
      </div>
    </Dialog>
  );
}
