import { isNativeError } from 'node:util/types';

/** What the model client keeps of an error of Postgres, which it wraps in one of its own. */
interface DatabaseCause {
  readonly originalCode?: string;
  readonly originalMessage?: string;
}

/** The SQLSTATE and the message of an error that came through the models; null for any other error. */
export function databaseCause(error: unknown): DatabaseCause | null {
  if (!isNativeError(error) || !('meta' in error)) return null;
  const { meta } = error as { meta?: { driverAdapterError?: { cause?: DatabaseCause } } };
  return meta?.driverAdapterError?.cause ?? null;
}

/** True when the database refused a row because of the named constraint or unique index. */
export function brokeConstraint(error: unknown, name: string): boolean {
  if (!isNativeError(error)) return false;
  if ('constraint' in error) return error.constraint === name;
  const cause = databaseCause(error);
  // Of a check the client keeps only the message, which names the constraint in every language of the server.
  return (cause?.originalCode?.startsWith('23') ?? false) && (cause?.originalMessage?.includes(name) ?? false);
}
