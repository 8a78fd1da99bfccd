import { type ReactNode, useState } from 'react';
import type { Session } from '../../api/queries';
import { Button } from '../../components/button';
import { Failure } from '../../components/states';

/** A form that sends something and enters with the session that comes back. */
export function EntryForm({
  send,
  onEnter,
  submit,
  isReady,
  children,
}: {
  readonly send: () => Promise<Session>;
  readonly onEnter: (session: Session) => void;
  readonly submit: string;
  readonly isReady: boolean;
  readonly children: ReactNode;
}) {
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
      {failure && <Failure of={failure} money="unthought" />}
      <Button type="submit" look="primary wide" label={submit} disabled={!isReady || isBusy} />
    </form>
  );
}
