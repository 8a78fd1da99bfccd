import { useEffect, useState } from 'react';
import { call } from '../../api/call';
import { type Session, useRead } from '../../api/queries';
import type { InvitationPreview } from '../../api/types';
import { EmailField, PasswordField, TextField, useInputs } from '../../components/fields';
import { Failure } from '../../components/states';
import { useMessages } from '../../messages/language';
import { EntryForm, SingleSignOn } from './entry-form';

interface ByInvitationProps {
  readonly code: string;
  readonly onEnter: (session: Session) => void;
}

export function ByInvitation({ code, onEnter }: ByInvitationProps) {
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

interface InvitationFormProps {
  readonly code: string;
  readonly preview: InvitationPreview;
  readonly onEnter: (session: Session) => void;
}

function InvitationForm({ code, preview, onEnter }: InvitationFormProps) {
  const { signIn, roles, common } = useMessages();
  const form = useInputs({ name: '', email: preview.email ?? '', password: '' });
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
            <Failure of={failure} money="unthought" />
            <p className="muted">{signIn.orPassword}</p>
          </>
        )}
        <EntryForm
          send={() => call('POST /sign-in/invitation', { body: { code, ...form.values } })}
          onEnter={onEnter}
          submit={signIn.accept}
          isReady={Object.values(form.values).every((typed) => typed !== '')}
        >
          <TextField {...form.text('name')} label={signIn.name} autoComplete="name" />
          <EmailField {...form.text('email')} label={common.email} />
          <PasswordField {...form.text('password')} isNew label={signIn.newPassword} hint={signIn.newPasswordHint} />
        </EntryForm>
      </div>
    </section>
  );
}
