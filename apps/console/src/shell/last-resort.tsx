import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { useSession } from '../api/queries';
import { Notice, Page } from '../components/page';
import { Failure } from '../components/states';
import { useMessages } from '../messages/language';

/** An address without a page. */
export function NotFound() {
  const { failures } = useMessages();
  return (
    <Page title={failures.notFoundTitle} lead={failures.notFoundText}>
      <ToOverview />
    </Page>
  );
}

/** A page that the reader's role does not open. */
export function NotForRole() {
  const { failures, roles: names } = useMessages();
  const { roles } = useSession();
  return (
    <Page title={failures.notForRoleTitle}>
      <Notice tone="info">{failures.notForRoleText(roles.map((role) => names[role]).join(', '))}</Notice>
      <ToOverview />
    </Page>
  );
}

function ToOverview() {
  const { shell } = useMessages();
  return (
    <p>
      <Link to="/" className="button">
        {shell.pages.overview}
      </Link>
    </p>
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
