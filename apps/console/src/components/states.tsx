import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { useMessages } from '../messages/language';
import { ApiError, ProofRefused } from '../api/api-error';
import { Button, CopyButton } from './button';
import { Icon } from './icons';
import { Time } from './values';

const STALE_AFTER_MS = 60_000;
const LOOK_EVERY_MS = 15_000;

/** The place of what is not there yet, in its final height, so that nothing jumps. */
export const Skeleton = ({ height }: { readonly height: number | string }) => (
  <div className="skeleton" style={{ height }} aria-hidden="true" />
);

/** What would be here, and how to get it. */
export const Empty = ({ children, action }: { readonly children: ReactNode; readonly action?: ReactNode }) => (
  <div className="empty">
    <p className="muted prose">{children}</p>
    {action}
  </div>
);

/** The words for a failure: by its code in the reader's language, else what the server said. */
export function useFailureText(): (failure: Error) => string {
  const { failures } = useMessages();
  return (failure) => {
    if (!(failure instanceof ApiError)) return failures.unexpected;
    return Object.hasOwn(failures.byCode, failure.code)
      ? failures.byCode[failure.code as keyof typeof failures.byCode]
      : failure.message;
  };
}

/** What trying again would not change. */
const isSettled = (failure: ApiError | null): boolean => failure?.status === 403 || failure?.status === 404;

/** Moves the focus to the field that the server refused, if it is in this form. */
function useRefusedField(notice: RefObject<HTMLElement | null>, failure: Error): void {
  useEffect(() => {
    notice.current?.closest('form')?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [notice, failure]);
}

interface FailureProps {
  /** None is shown as nothing, as is an identity that the user did not want to confirm. */
  readonly of: Error | null;
  readonly title?: string;
  readonly onRetry?: () => void;
  /** Whether no money moved, it is unknown whether the call spent some, or money plays no part. */
  readonly money?: 'still' | 'unknown' | 'unthought';
}

/** A failure with its request id, whether money moved, and a way on. */
export function Failure({ of: failure, ...props }: FailureProps) {
  if (!failure || (failure instanceof ProofRefused && !props.onRetry)) return null;
  return <WholeFailure of={failure} {...props} />;
}

function WholeFailure({ of: failure, title, onRetry, money = 'still' }: FailureProps & { readonly of: Error }) {
  const messages = useMessages();
  const text = useFailureText()(failure);
  const own = failure instanceof ApiError ? failure : null;
  const notice = useRef<HTMLDivElement>(null);
  useRefusedField(notice, failure);
  const copied = own ? [own.code, own.message, own.requestId].filter(Boolean).join('\n') : failure.message;
  return (
    <div className="notice bad" role="alert" ref={notice}>
      <span className="notice-sign" aria-hidden="true">
        ✕
      </span>
      <div className="stack tight">
        <p>
          <strong className="strong">{title ?? messages.failures.title}</strong> {text}
        </p>
        {own && own.status !== null && own.message !== text && <ServersWords text={own.message} />}
        {money !== 'unthought' && (
          <p className="small-text">{money === 'still' ? messages.failures.noMoney : messages.failures.moneyUnknown}</p>
        )}
        <div className="row">
          {onRetry && !isSettled(own) && <Button look="small" label={messages.common.tryAgain} onClick={onRetry} />}
          {own?.requestId != null && (
            <span className="small-text muted id">
              {own.requestId}
              <CopyButton text={copied} name={messages.failures.wholeError} />
            </span>
          )}
        </div>
      </div>
    </div>
  );
}

function ServersWords({ text }: { readonly text: string }) {
  const messages = useMessages();
  return (
    <details>
      <summary className="small-text">{messages.failures.details}</summary>
      <p className="small-text break" lang="en">
        {text}
      </p>
    </details>
  );
}

/** What a query tells about itself, as far as the states of a page need it. */
interface QueryLike<Data> {
  readonly data: Data | undefined;
  readonly error: Error | null;
  readonly isPlaceholderData: boolean;
  readonly dataUpdatedAt: number;
  readonly refetch: () => unknown;
}

/**
 * One part of a page in each of its states: loading in the final height, failed with a way on, there, and dimmed while
 * another filter is loaded. A part that fails leaves the others alone.
 */
export function Loaded<Data>({
  query,
  height,
  children,
}: {
  readonly query: QueryLike<Data>;
  /** Of what is loaded, roughly. */
  readonly height: number | string;
  readonly children: (data: Data) => ReactNode;
}) {
  if (query.data === undefined) {
    if (query.error) return <Failure of={query.error} onRetry={() => void query.refetch()} />;
    return <Skeleton height={height} />;
  }
  return (
    <div className={query.isPlaceholderData ? 'dimmed' : undefined} aria-busy={query.isPlaceholderData || undefined}>
      <Stale query={query} />
      {children(query.data)}
    </div>
  );
}

/** Shows how old the numbers are once they may have changed, or when reloading them failed. */
export function Stale({ query }: { readonly query: Omit<QueryLike<unknown>, 'data' | 'isPlaceholderData'> }) {
  const messages = useMessages();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const look = () => setNow(Date.now());
    const timer = setInterval(() => document.visibilityState === 'visible' && look(), LOOK_EVERY_MS);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, []);
  const isOld = query.dataUpdatedAt > 0 && now - query.dataUpdatedAt > STALE_AFTER_MS;
  if (!isOld && !query.error) return null;
  return (
    <div className="stale" role="status">
      <span>
        {messages.common.updated} <Time at={query.dataUpdatedAt / 1000} />
      </span>
      <button type="button" className="button small quiet" onClick={() => void query.refetch()}>
        <Icon name="refresh" size={14} />
        {messages.common.refresh}
      </button>
    </div>
  );
}
