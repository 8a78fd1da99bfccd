import { getRouteApi, useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { SignInMethods } from '../../api/types';
import { call } from '../../api/call';
import { queryClient, type Session, sessionQuery, useRead } from '../../api/queries';
import { ApiError } from '../../api/api-error';
import { EmailField, PasswordField, TextField } from '../../components/fields';
import { BrandMark } from '../../components/icons';
import { Notice } from '../../components/page';
import { Failure, Loaded } from '../../components/states';
import { useMessages } from '../../messages/language';
import { EntryForm } from './entry-form';
import { ByInvitation } from './invitation';
import { SingleSignOn } from './single-sign-on';
import { hasPasskeys, signInByPasskey } from '../../shell/passkeys';

const route = getRouteApi('/sign-in');

/** Where to go after the sign-in: only to a page of the console, whatever the address says. */
const insideOnly = (to: string | undefined): string =>
  to !== undefined && /^\/(console\/|console$)/.test(to) ? to : '/console/';

/** The code of a link, which stands behind `#` so that no log ever holds it; taken out of the address at once. */
function takeCode(): { readonly kind: 'code' | 'invitation'; readonly code: string } | null {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const found = (['code', 'invitation'] as const).find((kind) => parameters.has(kind));
  if (!found) return null;
  window.history.replaceState(window.history.state, '', location.pathname + location.search);
  return { kind: found, code: parameters.get(found) ?? '' };
}

export function SignInPage() {
  const { product, signIn } = useMessages();
  const { to } = route.useSearch();
  const { history } = useRouter();
  const [taken, setTaken] = useState(takeCode);
  // A link that is opened where this page stands already changes nothing but what is behind the `#`.
  useEffect(() => {
    const take = () => setTaken((before) => takeCode() ?? before);
    window.addEventListener('hashchange', take);
    return () => window.removeEventListener('hashchange', take);
  }, []);
  const enter = (session: Session) => {
    queryClient.clear();
    queryClient.setQueryData(sessionQuery.queryKey, session);
    history.replace(insideOnly(to));
  };
  useEffect(() => {
    document.title = `${signIn.title} · ${product}`;
  }, [signIn.title, product]);
  return (
    <main className="sign-in">
      <h1 className="brand">
        <BrandMark />
        {product}
      </h1>
      {taken?.kind === 'code' ? (
        <ByLink key={taken.code} code={taken.code} onEnter={enter} />
      ) : taken ? (
        <ByInvitation key={taken.code} code={taken.code} onEnter={enter} />
      ) : (
        <Ways onEnter={enter} />
      )}
    </main>
  );
}

/** Opens a one-time link; once, also where effects run twice. */
function ByLink({ code, onEnter }: { readonly code: string; readonly onEnter: (session: Session) => void }) {
  const { signIn } = useMessages();
  const [failure, setFailure] = useState<Error | null>(null);
  const isSent = useRef(false);
  useEffect(() => {
    if (isSent.current) return;
    isSent.current = true;
    call('POST /sign-in/link', { body: { code } }).then(onEnter, setFailure);
  });
  if (!failure) return <p role="status">{signIn.link}</p>;
  const isUsed = failure instanceof ApiError && failure.status !== null && failure.status < 500;
  return (
    <>
      {isUsed ? (
        <Notice tone="warn">
          <p>
            <strong className="strong">{signIn.linkFailed}</strong> {signIn.linkFailedHint}
          </p>
        </Notice>
      ) : (
        <Failure of={failure} />
      )}
      <Ways onEnter={onEnter} />
    </>
  );
}

function Ways({ onEnter }: { readonly onEnter: (session: Session) => void }) {
  const ways = useRead('GET /sign-in', {});
  return (
    <Loaded query={ways} height={260}>
      {(methods) => <WayForms methods={methods} onEnter={onEnter} />}
    </Loaded>
  );
}

function WayForms({
  methods,
  onEnter,
}: {
  readonly methods: SignInMethods;
  readonly onEnter: (session: Session) => void;
}) {
  const { signIn } = useMessages();
  const { to } = route.useSearch();
  const [failure, setFailure] = useState<Error | null>(null);
  const isPasskeyShown = methods.passkey && hasPasskeys();
  const hasAny =
    methods.password || isPasskeyShown || methods.oidc !== null || methods.api_key || methods.operator_token;
  if (!hasAny) return <Notice tone="info">{signIn.noWays}</Notice>;
  return (
    <div className="stack">
      {!failure && <Refused />}
      {methods.oidc !== null && <SingleSignOn name={methods.oidc} ask={{ to: insideOnly(to) }} onFail={setFailure} />}
      {isPasskeyShown && (
        <button type="button" className="button wide" onClick={() => void signInByPasskey().then(onEnter, setFailure)}>
          {signIn.passkey}
        </button>
      )}
      {failure && <Failure of={failure} />}
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
            label={signIn.token}
            send={(token) => call('POST /sign-in/operator', { body: { token } })}
            onEnter={onEnter}
          />
        </Folded>
      )}
    </div>
  );
}

/** What the way through the identity provider came to, when it led back here. */
function Refused() {
  const { refusals } = useMessages().signIn;
  const { error } = route.useSearch();
  return error !== undefined && <Notice tone="warn">{refusals[error] ?? refusals.sso}</Notice>;
}

const Folded = ({
  title,
  isOpen = false,
  children,
}: {
  readonly title: string;
  readonly isOpen?: boolean;
  readonly children: ReactNode;
}) => (
  <details className="card folded" open={isOpen}>
    <summary>{title}</summary>
    <div className="card-body">{children}</div>
  </details>
);

function PasswordForm({ onEnter }: { readonly onEnter: (session: Session) => void }) {
  const { signIn } = useMessages();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  return (
    <section className="card">
      <div className="card-body">
        <EntryForm
          send={() => call('POST /sign-in/password', { body: { email, password } })}
          onEnter={onEnter}
          submit={signIn.go}
          isReady={email !== '' && password !== ''}
        >
          <EmailField label={signIn.email} value={email} onType={setEmail} />
          <PasswordField label={signIn.password} value={password} onType={setPassword} />
        </EntryForm>
      </div>
    </section>
  );
}

function SecretForm({
  label,
  hint,
  send,
  onEnter,
}: {
  readonly label: string;
  readonly hint?: string;
  readonly send: (secret: string) => Promise<Session>;
  readonly onEnter: (session: Session) => void;
}) {
  const { signIn } = useMessages();
  const [secret, setSecret] = useState('');
  return (
    <EntryForm send={() => send(secret.trim())} onEnter={onEnter} submit={signIn.go} isReady={secret.trim() !== ''}>
      <TextField
        label={label}
        hint={hint}
        type="password"
        autoComplete="off"
        value={secret}
        onChange={(event) => setSecret(event.target.value)}
      />
    </EntryForm>
  );
}
