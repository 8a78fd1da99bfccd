import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { useMessages } from '../messages/language';
import { orNone } from './values';

interface PageProps {
  readonly title: ReactNode;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  /** For headings that are not plain text, or tabs that say more. */
  readonly tabTitle?: string;
  readonly children: ReactNode;
}

/** A page with its heading, which is also the title of the tab. */
export function Page({ title, lead, actions, tabTitle, children }: PageProps) {
  const { product } = useMessages();
  const shownTitle = tabTitle ?? (typeof title === 'string' ? title : product);
  useEffect(() => {
    document.title = shownTitle === product ? product : `${shownTitle} · ${product}`;
  }, [shownTitle, product]);
  return (
    <>
      <div className="page-head">
        <h1>{title}</h1>
        {actions !== undefined && <div className="row">{actions}</div>}
      </div>
      {lead !== undefined && <p className="page-lead">{lead}</p>}
      <IgnoredFilters />
      {children}
    </>
  );
}

/** The address that the browser was opened with: the router takes out of it what no page knows. */
const opened = { path: location.pathname, search: location.search };

/** Names the parts of the address that the page does not understand, instead of silently showing something else. */
function IgnoredFilters() {
  const { common } = useMessages();
  const { state } = useRouter();
  const [ignored] = useState(() => {
    if (location.pathname !== opened.path) return [];
    const known: object = state.matches.at(-1)?.search ?? {};
    return [...new URLSearchParams(opened.search)].filter(
      ([name, value]) => value !== '' && !Object.hasOwn(known, name),
    );
  });
  if (ignored.length === 0) return null;
  return (
    <div className="notice warn" role="status">
      <span className="notice-sign" aria-hidden="true">
        !
      </span>
      <p>{common.ignored(ignored.map(([name, value]) => `${name}=${value}`).join(', '))}</p>
    </div>
  );
}

interface CardProps {
  readonly title: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** Without a margin around what is in it, for tables. */
  readonly isFlush?: boolean;
}

export function Card({ title, actions, children, isFlush = false }: CardProps) {
  return (
    <section className="card">
      <div className="card-head">
        <h2>{title}</h2>
        {actions !== undefined && <div className="row">{actions}</div>}
      </div>
      {isFlush ? children : <div className="card-body">{children}</div>}
    </section>
  );
}

/** Names and what they are, nothing being a dash. False: a line that does not apply. */
export const Facts = ({
  of: facts,
}: {
  readonly of: readonly (readonly [name: string, value: ReactNode] | false)[];
}) => (
  <dl className="facts">
    {facts
      .filter((fact) => fact !== false)
      .map(([name, value]) => (
        <FactLine key={name} name={name} value={value} />
      ))}
  </dl>
);

const FactLine = ({ name, value }: { readonly name: string; readonly value: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{orNone(value)}</dd>
  </>
);

interface NoticeProps {
  readonly tone: 'good' | 'warn' | 'bad' | 'info';
  readonly children: ReactNode;
}

export function Notice({ tone, children }: NoticeProps) {
  const signs = { good: '✓', warn: '!', bad: '✕', info: 'i' } as const;
  return (
    <div className={`notice ${tone}`}>
      <span className="notice-sign" aria-hidden="true">
        {signs[tone]}
      </span>
      <div>{children}</div>
    </div>
  );
}
