import { type ReactNode, useState } from 'react';
import type { SignInMethods } from '../../api/types';
import { call } from '../../api/call';
import { type Session, useRead } from '../../api/queries';
import { Button } from '../../components/button';
import { EmailField, PasswordField, TextField, useInputs } from '../../components/fields';
import { Notice } from '../../components/page';
import { Failure, Loaded } from '../../components/states';
import { useMessages } from '../../messages/language';
import { hasPasskeys, signInByPasskey } from '../../shell/passkeys';
import { EntryForm, SingleSignOn } from './entry-form';

interface WaysProps {
  readonly to: string | undefined;
  /** The error of a sign-in through another site, shown until another method is tried. */
  readonly refusal?: ReactNode;
  readonly onEnter: (session: Session) => void;
}

/** Every sign-in method of the gateway; one through another site returns to `to`. */
export function Ways({ to, refusal, onEnter }: WaysProps) {
  const ways = useRead('GET /sign-in', {});
  return (
    <Loaded query={ways} height={260}>
      {(methods) => (
        <WayForms methods={methods} back={to === undefined ? {} : { to }} refusal={refusal} onEnter={onEnter} />
      )}
    </Loaded>
  );
}

interface WayFormsProps {
  readonly methods: SignInMethods;
  /** Where a way through another site comes back to. */
  readonly back: { readonly to?: string };
  readonly refusal: ReactNode;
  readonly onEnter: (session: Session) => void;
}

function WayForms({ methods, back, refusal, onEnter }: WayFormsProps) {
  const { signIn, shell } = useMessages();
  const [failure, setFailure] = useState<Error | null>(null);
  const isPasskeyShown = methods.passkey && hasPasskeys();
  const hasAny =
    methods.password || isPasskeyShown || methods.oidc !== null || methods.api_key || methods.operator_token;
  if (!hasAny) return <Notice tone="info">{signIn.noWays}</Notice>;
  return (
    <div className="stack">
      {!failure && refusal}
      {methods.oidc !== null && <SingleSignOn name={methods.oidc} ask={back} onFail={setFailure} />}
      {isPasskeyShown && (
        <Button
          look="wide"
          label={shell.proofPasskey}
          onClick={() => void signInByPasskey().then(onEnter, setFailure)}
        />
      )}
      <Failure of={failure} money="unthought" />
      {methods.password && <PasswordForm onEnter={onEnter} />}
      {methods.api_key && (
        <Folded title={signIn.byKey} isOpen={!methods.password}>
          <SecretForm
            label={signIn.key}
            hint={signIn.keyHint}
            send={(key) => call('POST /sign-in/key', { body: { key } })}
            onEnter={onEnter}
          />
        </Folded>
      )}
      {methods.operator_token && (
        <Folded title={signIn.byToken}>
          <SecretForm
            label={shell.proofToken}
            send={(token) => call('POST /sign-in/operator', { body: { token } })}
            onEnter={onEnter}
          />
        </Folded>
      )}
    </div>
  );
}

interface FoldedProps {
  readonly title: string;
  readonly isOpen?: boolean;
  readonly children: ReactNode;
}

const Folded = ({ title, isOpen = false, children }: FoldedProps) => (
  <details className="card folded" open={isOpen}>
    <summary>{title}</summary>
    <div className="card-body">{children}</div>
  </details>
);

function PasswordForm({ onEnter }: { readonly onEnter: (session: Session) => void }) {
  const { signIn, common } = useMessages();
  const form = useInputs({ email: '', password: '' });
  const { email, password } = form.values;
  return (
    <section className="card">
      <div className="card-body">
        <EntryForm
          send={() => call('POST /sign-in/password', { body: { email, password } })}
          onEnter={onEnter}
          submit={signIn.go}
          isReady={email !== '' && password !== ''}
        >
          <EmailField {...form.text('email')} label={common.email} />
          <PasswordField {...form.text('password')} label={common.password} />
        </EntryForm>
      </div>
    </section>
  );
}

interface SecretFormProps {
  readonly label: string;
  readonly hint?: string;
  readonly send: (secret: string) => Promise<Session>;
  readonly onEnter: (session: Session) => void;
}

function SecretForm({ label, hint, send, onEnter }: SecretFormProps) {
  const { signIn } = useMessages();
  const [secret, setSecret] = useState('');
  return (
    <EntryForm send={() => send(secret.trim())} onEnter={onEnter} submit={signIn.go} isReady={secret.trim() !== ''}>
      <TextField label={label} hint={hint} type="password" autoComplete="off" value={secret} onType={setSecret} />
    </EntryForm>
  );
}
