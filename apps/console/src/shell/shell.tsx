import { Link, Outlet, useMatches, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useRead, useSession } from '../api/queries';
import { BrandMark, Icon } from '../components/icons';
import { Failure } from '../components/states';
import { Money } from '../components/values';
import { useMessages } from '../messages/language';
import { LiveRegion, useTaskAnnouncements } from './announce';
import { NotForRole } from './last-resort';
import { mayOpen, menuFor, type MenuPage } from './navigation';
import { ProofDialog } from './proof-dialog';
import { ReloadNotice } from './reload-notice';
import { SessionOver } from './session-over';
import { useShortcuts } from './shortcuts';
import { UserMenu } from './user-menu';

const SearchDialog = lazy(() => import('./search-dialog'));
const ShortcutsDialog = lazy(() => import('./shortcuts-dialog'));

const BALANCE_EVERY_MS = 30_000;

/** Everything around a page: menu by role, search, balance, and the windows that any page may need. */
export function Shell() {
  const messages = useMessages();
  const [window, setWindow] = useState<'search' | 'shortcuts' | null>(null);
  const [failure, setFailure] = useState<Error | null>(null);
  const main = useFocusOnNewPage();
  useShortcuts({ onSearch: () => setWindow('search'), onHelp: () => setWindow('shortcuts') });
  useTaskAnnouncements();
  const close = () => setWindow(null);
  return (
    <div className="shell">
      <a className="skip-link" href="#content">
        {messages.shell.skip}
      </a>
      <Side />
      <div>
        <header className="top">
          <button type="button" className="search" onClick={() => setWindow('search')}>
            <Icon name="search" />
            <span>{messages.shell.search}</span>
            <kbd aria-hidden="true">/</kbd>
          </button>
          <Balance />
          <UserMenu onShortcuts={() => setWindow('shortcuts')} onFailure={setFailure} />
        </header>
        <main className="page" id="content" ref={main} tabIndex={-1}>
          <ReloadNotice />
          <Failure of={failure} title={messages.shell.signOutFailed} money="unthought" />
          <Content />
        </main>
      </div>
      <LiveRegion />
      <ProofDialog />
      <SessionOver />
      <Suspense>
        {window === 'search' && <SearchDialog onClose={close} />}
        {window === 'shortcuts' && <ShortcutsDialog onClose={close} />}
      </Suspense>
    </div>
  );
}

/** The page of the address, where the role of the reader opens it. */
function Content() {
  const { permissions } = useSession();
  const path = useMatches({ select: (matches) => matches.at(-1)?.pathname ?? '/' });
  return mayOpen(path.replace(/^\/console(?=\/|$)/, ''), permissions) ? <Outlet /> : <NotForRole />;
}

/** Moves the focus to the content when another page is shown, as a browser does for a document. */
function useFocusOnNewPage() {
  const main = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const first = useRef(path);
  useEffect(() => {
    if (first.current === path) return;
    first.current = path;
    main.current?.focus({ preventScroll: true });
  }, [path]);
  return main;
}

function Side() {
  const messages = useMessages();
  const { permissions } = useSession();
  const side = useRef<HTMLDivElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  // On narrow screens the menu is a row that scrolls: the page that is shown must be in sight.
  useEffect(() => {
    const current = side.current?.querySelector<HTMLElement>('[aria-current=page]');
    if (current) side.current?.scrollTo({ left: current.offsetLeft - side.current.clientWidth / 3 });
  }, [path]);
  return (
    <div className="side" ref={side}>
      <nav aria-label={messages.shell.menu}>
        <Link to="/" className="brand" aria-label={messages.product}>
          <BrandMark />
          <span>{messages.product}</span>
        </Link>
        {menuFor(permissions).map((group) => (
          <div key={group.name}>
            <p className="group-name" id={`group-${group.name}`}>
              {messages.shell.groups[group.name]}
            </p>
            <ul aria-labelledby={`group-${group.name}`}>
              {group.pages.map((page) => (
                <li key={page.to}>
                  <PageLink page={page} />
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
    </div>
  );
}

function PageLink({ page }: { readonly page: MenuPage }) {
  const { pages } = useMessages().shell;
  const content = (
    <>
      <Icon name={page.icon} />
      {pages[page.name]}
    </>
  );
  if (page.isOutside) return <a href={page.to}>{content}</a>;
  return (
    <Link
      to={page.to}
      activeOptions={{ exact: page.to === '/', includeSearch: false }}
      activeProps={{ 'aria-current': 'page' }}
    >
      {content}
    </Link>
  );
}

/** What may be spent, on every page; it follows every charge. */
function Balance() {
  const messages = useMessages();
  const { permissions } = useSession();
  const enabled = permissions.includes('balance:read');
  const { data } = useRead('GET /billing', {}, { enabled, refetchMs: BALANCE_EVERY_MS });
  if (!enabled || !data) return null;
  return (
    <Link to="/billing" className="balance">
      {data.is_unlimited ? messages.common.unlimited : <Money amount={data.available} form="headline" />}
      <span className="visually-hidden"> {messages.shell.balance}</span>
    </Link>
  );
}
