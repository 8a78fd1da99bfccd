import { useState } from 'react';
import { call } from '../api/call';
import { type Session, useSession } from '../api/queries';
import { Button } from '../components/button';
import { Dialog } from '../components/dialog';
import { TextField } from '../components/fields';
import { Notice } from '../components/page';
import { Failure } from '../components/states';
import { useMessages } from '../messages/language';
import { provePasskey } from './passkeys';

interface ProofWindowProps {
  readonly onProved: (session: Session) => void;
  readonly onClose: () => void;
}

export default function ProofWindow({ onProved, onClose }: ProofWindowProps) {
  const { shell, common } = useMessages();
  const { proofs } = useSession();
  const [secret, setSecret] = useState('');
  const [failure, setFailure] = useState<Error | null>(null);
  const kind = proofs.includes('password') ? 'password' : proofs.includes('operator_token') ? 'token' : null;
  const attempt = (work: Promise<Session>) => work.then(onProved, (error: Error) => setFailure(error));
  return (
    <Dialog
      title={shell.proofTitle}
      onClose={onClose}
      onSubmit={() => {
        if (kind)
          void attempt(
            call('POST /session/proof', { body: kind === 'password' ? { password: secret } : { token: secret } }),
          );
      }}
      footer={
        <>
          <Button label={common.cancel} onClick={onClose} />
          {proofs.includes('passkey') && (
            <Button label={shell.proofPasskey} onClick={() => void attempt(provePasskey())} />
          )}
          {kind && <Button type="submit" look="primary" label={shell.prove} disabled={secret === ''} />}
        </>
      }
    >
      <div className="stack">
        <p>{shell.proofText}</p>
        {proofs.length === 0 && <Notice tone="warn">{shell.proofNone}</Notice>}
        {kind && (
          <TextField
            label={kind === 'password' ? shell.proofPassword : shell.proofToken}
            type="password"
            autoComplete="current-password"
            autoFocus
            value={secret}
            onType={setSecret}
          />
        )}
        <Failure of={failure} />
      </div>
    </Dialog>
  );
}
