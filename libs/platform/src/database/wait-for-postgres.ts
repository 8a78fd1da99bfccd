import { setTimeout as sleep } from 'node:timers/promises';
import { BoundedClient } from './bounded-client.js';
import { isConnectionError } from './connection-errors.js';
import { NamedError } from '../named-error.js';

/** The oldest major version that every statement was run on. */
const OLDEST = 15;
/** Of a number such as 150020, which stands for 15.20. */
const PER_MAJOR = 10_000;

/**
 * Why a server is too old, in one line; null when it is not.
 *
 * @param versionNumber `server_version_num` as Postgres answers it, such as `150020`.
 */
export function tooOldPostgres(versionNumber: string): string | null {
  const number = Number(versionNumber);
  const major = Math.floor(number / PER_MAJOR);
  return major >= OLDEST
    ? null
    : `The gateway needs Postgres ${OLDEST} or newer; DATABASE_URL points to ${major}.${number % PER_MAJOR}.`;
}

/** Postgres did not appear in time, or refuses us. The message is one line that says what to check. */
export class PostgresAwayError extends NamedError {}

/** How often a connection is tried and its failure reported; also the longest that one try may take. In milliseconds. */
const TURN_MS = 1_000;

export interface PostgresWait {
  readonly secondsLeft: number;
  readonly reason: string;
}

const printWait = ({ secondsLeft, reason }: PostgresWait): void =>
  void process.stderr.write(`Waiting for Postgres (DATABASE_URL), ${secondsLeft} s left: ${reason}\n`);

/**
 * Resolves once Postgres answers, so that processes may be started beside it and not after it: one line a second says what is
 * waited for.
 *
 * @param report called once a second; writes words to standard error unless a process with a log of its own says otherwise.
 * @throws PostgresAwayError after `limitSeconds`, or at once when the server is there but refuses the address or the login, or
 * is too old.
 */
export async function waitForPostgres(
  databaseUrl: string,
  limitSeconds: number,
  report: (wait: PostgresWait) => void = printWait,
): Promise<void> {
  const deadline = performance.now() + limitSeconds * 1000;
  for (;;) {
    const turnEnds = performance.now() + TURN_MS;
    const failure = await tryToConnect(databaseUrl);
    if (failure === null) return;
    if (failure instanceof PostgresAwayError) throw failure;
    if (!isConnectionError(failure)) {
      throw new PostgresAwayError(`Postgres refuses DATABASE_URL: ${reasonOf(failure)}`, { cause: failure });
    }
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) {
      throw new PostgresAwayError(
        `Postgres (DATABASE_URL) did not answer within START_WAIT_SECONDS=${limitSeconds}: ${reasonOf(failure)}`,
        { cause: failure },
      );
    }
    report({ secondsLeft: Math.ceil(leftMs / 1000), reason: reasonOf(failure) });
    await sleep(Math.max(0, Math.min(turnEnds - performance.now(), leftMs)));
  }
}

async function tryToConnect(databaseUrl: string): Promise<unknown> {
  const client = new BoundedClient({
    connectionString: databaseUrl,
    connectionTimeoutMillis: TURN_MS,
    statementLimitMs: TURN_MS,
    application_name: 'generation-gateway-start',
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ version: string }>(`select current_setting('server_version_num') as version`);
    const tooOld = tooOldPostgres(rows[0]?.version ?? '0');
    return tooOld === null ? null : new PostgresAwayError(tooOld);
  } catch (error) {
    return error;
  } finally {
    client.end().catch(() => undefined);
  }
}

/** A name with several addresses fails with an error for each, and no words of its own. */
function reasonOf(error: unknown): string {
  const words = error instanceof AggregateError ? error.errors.map(String).join('; ') : (error as Error).message;
  return words.replaceAll(/\s+/g, ' ');
}
