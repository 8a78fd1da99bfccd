/** Responses of status 1xx before the real one. Servers send one or two, and each restarts the wait for the next. */
const INTERIM_RESPONSES_MAX = 32;

/** Counts the interim responses to one request. */
export class InterimResponses {
  #count = 0;

  /** What a server does that sends too many, for a sentence that begins with it. */
  readonly fault = `sends more than ${INTERIM_RESPONSES_MAX} interim responses`;

  /** Takes note of one, and says whether it is one too many. */
  isTooMany(): boolean {
    return ++this.#count > INTERIM_RESPONSES_MAX;
  }
}
