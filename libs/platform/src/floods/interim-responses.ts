import { FetchRefused } from '../safe-fetch/fetch-errors.js';

/** Responses of status 1xx before the real one. Servers send one or two, and each restarts the wait for the next. */
const INTERIM_RESPONSES_MAX = 32;

/** Counts the interim responses to one request. The function that it makes takes note of one. @throws FetchRefused */
export function limitInterimResponses(): () => void {
  let count = 0;
  return () => {
    if (++count > INTERIM_RESPONSES_MAX)
      throw new FetchRefused(
        'too_many_interim_responses',
        `the host sends more than ${INTERIM_RESPONSES_MAX} interim responses`,
      );
  };
}
