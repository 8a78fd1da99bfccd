import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { call } from '../../api/call';
import { queryClient, type Session, sessionQuery } from '../../api/queries';
import { ApiError } from '../../api/api-error';
import { BrandMark } from '../../components/icons';
import { Notice } from '../../components/page';
import { Failure } from '../../components/states';
import { useMessages } from '../../messages/language';
import { followOtherTabs, tellOtherTabs } from '../../shell/other-tabs';
import { ByInvitation } from './invitation';
import { Ways } from './ways';

const route = getRouteApi('/sign-in');

/** Where to go after the sign-in: only to a page of the console, whatever the address says. */
const insideOnly = (to: string | undefined): string =>
  to !== undefined && /^\/(console\/|console$)/.test(to) ? to : '/console/';

/** The code of a link, which is behind `#` so that no log ever holds it; taken out of the address at once. */
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
  const enterHere = (session: Session) => {
    tellOtherTabs();
    enter(session);
  };
  useEffect(() => followOtherTabs(enter));
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
        <ByLink key={taken.code} code={taken.code} onEnter={enterHere} />
      ) : taken ? (
        <ByInvitation key={taken.code} code={taken.code} onEnter={enterHere} />
      ) : (
        <Ways to={insideOnly(to)} refusal={<Refused />} onEnter={enterHere} />
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
        <Failure of={failure} money="unthought" />
      )}
      <Ways to={undefined} onEnter={onEnter} />
    </>
  );
}

/** The error of a sign-in at the identity provider that led back here. */
function Refused() {
  const { refusals } = useMessages().signIn;
  const { error } = route.useSearch();
  return error !== undefined && <Notice tone="warn">{refusals[error] ?? refusals.sso}</Notice>;
}
