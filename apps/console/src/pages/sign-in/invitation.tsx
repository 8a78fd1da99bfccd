import { useEffect, useState } from 'react';
import { call } from '../../api/call';
import { type Session, useRead } from '../../api/queries';
import type { InvitationPreview } from '../../api/types';
import { EmailField, PasswordField, TextField } from '../../components/fields';
import { Failure } from '../../components/states';
import { useMessages } from '../../messages/language';
import { EntryForm, SingleSignOn } from './entry-form';

export function ByInvitation({
  code,
  onEnter,
}: {
  readonly code: string;
  readonly onEnter: (session: Session) => void;
}) {
  const { signIn } = useMessages();
  const [preview, setPreview] = useState<InvitationPreview | null>(null);
  const [failure, setFailure] = useState<Error | null>(null);
  useEffect(() => {
    call('POST /sign-in/invitation/preview', { body: { code } }).then(setPreview, setFailure);
  }, [code]);
  if (failure) {
    return (
      <>
        <Failure of={failure} title={signIn.linkFailed} money="unthought" />
        <p>
          {signIn.invitationAgain} <a href="/console/sign-in">{signIn.title}</a>
        </p>
      </>
    );
  }
  if (!preview) return <p role="status">{signIn.link}</p>;
  return <InvitationForm code={code} preview={preview} onEnter={onEnter} />;
}

function InvitationForm({
  code,
  preview,
  onEnter,
}: {
  readonly code: string;
  readonly preview: InvitationPreview;
  readonly onEnter: (session: Session) => void;
}) {
  const { signIn, roles } = useMessages();
  const [name, setName] = useState('');
  const [email, setEmail] = useState(preview.email ?? '');
  const [password, setPassword] = useState('');
  const [failure, setFailure] = useState<Error | null>(null);
  const ways = useRead('GET /sign-in', {});
  const provider = ways.data?.oidc ?? null;
  return (
    <section className="card">
      <div className="card-head">
        <h2>{preview.account_name === null ? signIn.invitationOperator : signIn.invitation(preview.account_name)}</h2>
      </div>
      <div className="card-body stack">
        <p className="muted">{signIn.invitationRole(roles[preview.role])}</p>
        {provider !== null && (
          <>
            <SingleSignOn name={provider} ask={{ invitation: code }} onFail={setFailure} />
            {failure && <Failure of={failure} money="unthought" />}
            <p className="muted">{signIn.orPassword}</p>
          </>
        )}
        <EntryForm
          send={() => call('POST /sign-in/invitation', { body: { code, name, email, password } })}
          onEnter={onEnter}
          submit={signIn.accept}
          isReady={name !== '' && email !== '' && password !== ''}
        >
          <TextField label={signIn.name} autoComplete="name" value={name} onType={setName} />
          <EmailField label={signIn.email} value={email} onType={setEmail} />
          <PasswordField
            isNew
            label={signIn.newPassword}
            hint={signIn.newPasswordHint}
            value={password}
            onType={setPassword}
          />
        </EntryForm>
      </div>
    </section>
  );
}
