import { isNativeError } from 'node:util/types';
import { type Database, isConnectionError, logger } from '#platform';

const log = logger('maintenance');

/** The loops over all tenants that pass over what failed. */
export const PAUSABLE_JOBS = [
  'abandoned-hold',
  'abandoned-reservation',
  'file-storage',
  'file-removal',
  'low-balance',
  'deadline',
] as const;
export type PausableJob = (typeof PAUSABLE_JOBS)[number];

/** The first pause, doubled by each failure after it, and the longest, in seconds. */
const PAUSE = { first: 10, longest: 3_600 } as const;
const REASON_CHARACTERS_MAX = 300;

/** $1 job, $2 subject, $3 reason. A failure during a pause, of another process that had begun before, does not make it longer. */
const NOTE_FAILURE = `
insert into paused_work as p (job, subject_id, failures, reason, resumes_at)
values ($1, $2, 1, $3, now() + interval '${PAUSE.first} seconds')
on conflict (job, subject_id) do update set failures = p.failures + 1, reason = excluded.reason, failed_at = now(),
  resumes_at = now() + least(${PAUSE.longest}, ${PAUSE.first} * 2 ^ least(p.failures, 20)) * interval '1 second'
where p.resumes_at <= now()
returning failures, extract(epoch from resumes_at - now())::float8 as seconds`;

/** The condition of a statement that the work for the subject in `column` is not paused. */
export const notPaused = (job: PausableJob, column: string): string =>
  `not exists (select from paused_work where job = '${job}' and subject_id = ${column} and resumes_at > now())`;

/**
 * Lets a loop over all tenants go on when the work for one of them fails: it is noted for operators, and passed over for
 * 10 s, after each further failure for twice as long, up to an hour. All replicas share the pauses.
 */
export class PausedWork {
  constructor(private readonly database: Pick<Database, 'query'>) {}

  /**
   * Does the work for one subject, an id of ours. False: it failed, and is paused. A database that is away is the fault of no
   * subject.
   *
   * @throws the connection error of `work`.
   */
  async attempt(job: PausableJob, subjectId: string, work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (isConnectionError(error)) throw error;
      await this.note(job, subjectId, error);
      return false;
    }
  }

  private async note(job: PausableJob, subjectId: string, error: unknown): Promise<void> {
    const reason = reasonOf(error);
    const values = [job, subjectId, reason];
    const noted = await this.database.query<{ failures: number; seconds: number }>({ text: NOTE_FAILURE, values });
    log.error('work.paused', { job, subjectId, ...noted.rows[0], error });
  }
}

/** The words of an error as a column takes them. */
export const reasonOf = (error: unknown): string =>
  (isNativeError(error) ? error.message : String(error))
    .toWellFormed()
    .replaceAll('\0', '')
    .slice(0, REASON_CHARACTERS_MAX);
