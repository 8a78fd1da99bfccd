import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { Failure } from '../components/states';
import { useMessages } from '../messages/language';

/** An address that leads nowhere. */
export function NotFound() {
  const { failures, shell } = useMessages();
  return (
    <div className="page">
      <h1>{failures.notFoundTitle}</h1>
      <p className="muted">{failures.notFoundText}</p>
      <p>
        <Link to="/">{shell.pages.overview}</Link>
      </p>
    </div>
  );
}

/** A page that could not be shown at all, or a session that could not be read. */
export function Crashed({ error, reset }: ErrorComponentProps) {
  return (
    <div className="page">
      <Failure
        of={error instanceof Error ? error : new Error(String(error))}
        onRetry={() => {
          reset();
          location.reload();
        }}
      />
    </div>
  );
}
