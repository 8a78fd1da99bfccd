import { NamedError } from '../named-error.js';

/** The embedded Postgres cannot be used; the message is one line that an operator can act on. */
export class EmbeddedPostgresError extends NamedError {}

/** Another living process works on the same data folder. */
export class AlreadyRunningError extends EmbeddedPostgresError {
  constructor(
    readonly dataDir: string,
    readonly processId: number,
  ) {
    super(`DATA_DIR is in use by process ${processId}: stop it, or set another DATA_DIR (now ${dataDir}).`);
  }
}

const REASONS: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [
    /no space left on device|check free disk space|ENOSPC|disk quota exceeded|EDQUOT/i,
    'the disk is full; a new database needs about 60 MB',
  ],
  [/read-only file system|EROFS/i, 'the file system is read-only'],
  [/permission denied|EACCES|EPERM/i, 'permission denied'],
  [/not a directory|ENOTDIR/i, 'a part of the path is a file, not a folder'],
  [/ENOENT/, 'the path does not exist and cannot be created'],
  [/address already in use|EADDRINUSE/i, 'its port is in use by another program'],
  [/could not create shared memory segment|could not map anonymous/i, 'the system gives it too little shared memory'],
];

/**
 * Turns what the system or Postgres said into one line that names DATA_DIR and the reason.
 * Without a known reason the first severe line of the output is quoted.
 */
export function explainPostgresFailure(attempt: string, dataDir: string, output: string): EmbeddedPostgresError {
  const known = REASONS.find(([pattern]) => pattern.test(output))?.[1];
  const lines = output.split('\n').map((line) => line.trim());
  const quoted = lines.find((line) => /FATAL|PANIC|error/i.test(line)) ?? lines.findLast((line) => line !== '');
  return new EmbeddedPostgresError(
    `${attempt} in DATA_DIR ${dataDir} failed: ${known ?? quoted ?? 'no reason given'}.`,
  );
}
