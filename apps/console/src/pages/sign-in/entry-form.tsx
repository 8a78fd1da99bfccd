import { type ReactNode, useState } from 'react';
import { call, type CallInput } from '../../api/call';
import type { Session } from '../../api/queries';
import { Button } from '../../components/button';
import { Failure } from '../../components/states';
import { useMessages } from '../../messages/language';

interface EntryFormProps {
  readonly send: () => Promise<Session>;
  readonly onEnter: (session: Session) => void;
  readonly submit: string;
  readonly isReady: boolean;
  readonly children: ReactNode;
}

/** A form that sends something and enters with the session that comes back. */
export function EntryForm({ send, onEnter, submit, isReady, children }: EntryFormProps) {
  const [failure, setFailure] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  const go = () => {
    setBusy(true);
    setFailure(null);
    send().then(onEnter, (error: Error) => {
      setFailure(error);
      setBusy(false);
    });
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && !isBusy) go();
      }}
    >
      {children}
      <Failure of={failure} money="unthought" />
      <Button type="submit" look="primary wide" label={submit} disabled={!isReady || isBusy} />
    </form>
  );
}

interface SingleSignOnProps {
  readonly name: string;
  readonly ask: CallInput<'POST /sign-in/oidc'>['body'];
  readonly onFail: (failure: Error) => void;
}

/** Leads to the identity provider, which leads back. */
export function SingleSignOn({ name, ask, onFail }: SingleSignOnProps) {
  const { signIn } = useMessages();
  const go = () => {
    call('POST /sign-in/oidc', { body: ask }).then(({ location: there }) => location.assign(there), onFail);
  };
  return <Button look="primary wide" label={signIn.oidc(name)} onClick={go} />;
}
