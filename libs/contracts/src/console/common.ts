/**
 * How the console talks to the gateway, below `/console/api`. It is private: made for the pages of this version.
 *
 * - Every route is GET, which changes nothing, or POST, which takes `content-type: application/json`, the header
 *   `X-Console` with `CONSOLE_VERSION`, and comes from a page of the gateway itself (`Sec-Fetch-Site: same-origin`, or
 *   the `Origin` of the gateway). A POST without fields takes `{}`.
 * - A session is a cookie. Without one, every route but those of the sign-in answers 401 `sign_in_required`.
 * - An answer is the JSON that is in `ConsoleApi`, without an envelope. Amounts are decimal texts with six places,
 *   in the unit that `ConsoleSession.currency` names. Times are ISO 8601 in UTC. Days are `2026-11-20`, of UTC.
 * - A failure has an HTTP status of 400 or above and the body `ConsoleFailure`.
 */
export interface ConsoleFailure {
  readonly error: {
    /**
     * One of the codes of the gateway, such as `invalid_parameter`, and of the console: `sign_in_required` (401),
     * `wrong_credentials` (401),
     * `permission_denied` (403), `proof_required` (403: ask for proof and repeat), `cross_site` (403),
     * `reload_required` (409: the pages are older than the gateway).
     */
    readonly code: string;
    /** In English, for people. */
    readonly message: string;
    /** The field at fault, as the body or the query names it. */
    readonly field: string | null;
    /** Every wrong field, when several are. */
    readonly problems: readonly ConsoleProblem[];
    /** What support asks for; also the header `x-request-id`. */
    readonly request_id: string;
    /** When to try again, of a refusal that is temporary. */
    readonly retry_after_seconds: number | null;
  };
}

/** The version of this interface: pages that name a lower one get `reload_required`. */
export const CONSOLE_VERSION = 1;

/** One field that breaks a rule, or a broken rule over several fields, naming the first. */
export interface ConsoleProblem {
  readonly code: string;
  readonly field: string | null;
  readonly message: string;
}

/** A part of a list. `next_cursor` goes into `cursor` of the next request; null on the last part. */
export interface ConsoleList<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

/** Which part of a list: `limit` 1 to 100, 50 by default. */
export interface ConsoleListQuery {
  readonly limit?: number;
  readonly cursor?: string;
}

/** A list that can also be had as CSV, whole, with the same filters. */
export interface ConsoleExportQuery extends ConsoleListQuery {
  readonly format?: 'json' | 'csv';
}

/** Decimal text with six places: `0.250000`, `-3.000000`. */
export type Amount = string;
/** ISO 8601 in UTC: `2026-11-20T10:48:57.000Z`. */
export type Time = string;
/** `2026-11-20`. */
export type Day = string;

/** A route: what goes in, and what comes back. */
export interface Call<Query, Body, Answer> {
  readonly query: Query;
  readonly body: Body;
  readonly answer: Answer;
}
/** Reads; may have filters. */
export type Read<Answer, Query = NoFields> = Call<Query, undefined, Answer>;
/** Changes something; `{}` where there is no data. */
export type Write<Body, Answer> = Call<NoFields, Body, Answer>;
export type NoFields = Readonly<Record<string, never>>;
