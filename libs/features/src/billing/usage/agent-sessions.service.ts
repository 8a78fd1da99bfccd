import { Injectable } from '@nestjs/common';
import { Database } from '#platform';
import {
  cursorTime,
  foreignCursor,
  fromCursor,
  type ListedRow,
  type Page,
  type PageRequest,
  type Position,
  type ShownRow,
  toCursor,
  toPage,
} from '../../paging/page.js';
import type { UsageQuery } from './usage-sums.js';
import { RECORD_COLUMNS } from './usage.service.js';

/** What a cursor says besides the time: the last record, and the moment of the first page, in microseconds since 1970. */
const POSITION = /^(\w+)-(\d{1,16})$/;

export interface AgentSessionsQuery extends UsageQuery {
  /** A part of the session's name, in any letter case; null: all. */
  readonly text: string | null;
}

/** What the requests of one session of an agent came to, in the days that were asked for. */
export interface AgentSession extends ShownRow {
  readonly session: string;
  /** Of its last request. */
  readonly time: string;
}

interface SessionRow extends AgentSession, Position {
  /** The moment that all pages show, in microseconds since 1970. */
  readonly as_of: bigint;
}

const MODELS_SHOWN = 20;

const IN_DAYS = (record: string): string => `${record}.created_at >= moment_of($1::date::timestamp, $8)
  and ${record}.created_at < moment_of(($2::date + 1)::timestamp, $8) and ${record}.created_at <= p.as_of`;

/**
 * A session stands where its last request does. The pages of a list all show one moment, that of the first: what comes later moves no
 * session from a page that is still to be read to one that was.
 *
 * $1 first day, $2 last day, $3 the moment in microseconds or null, $4 and $5 time and id of the last row before or null, $6 a part
 * of the name or null, $7 how many, $8 the time zone of the days.
 */
const sessionsText = (ofAccount: string): string => `
with p as (
  select case when $3::bigint is null then now() else timestamptz 'epoch' + $3::bigint * interval '1 microsecond' end as as_of
), newest as (
  select r.account_id, r.session, r.created_at, r.id, p.as_of from usage_record r, p
  where r.session is not null and ${IN_DAYS('r')}${ofAccount}
    and ($4::timestamptz is null or (r.created_at <= $4 and (r.created_at, r.id) < ($4, $5)))
    and ($6::text is null or position(lower($6) in lower(r.session)) > 0)
    and not exists (
      select from usage_record n where n.session = r.session and n.account_id = r.account_id and ${IN_DAYS('n')}
        and n.created_at >= r.created_at and (n.created_at, n.id) > (r.created_at, r.id))
  order by r.created_at desc, r.id desc limit $7
)
select s.account_id, s.session, ${cursorTime('s.created_at')} as time, s.id, sums.*,
  (extract(epoch from s.as_of) * 1000000)::bigint as as_of
from newest s cross join lateral (
  select ${cursorTime('min(u.created_at)')} as began_at, count(*) as requests,
    count(*) filter (where u.status <> 'completed') as failed_requests,
    (array_agg(distinct u.model order by u.model))[1:${MODELS_SHOWN}] as models, count(distinct u.agent) as agents,
    max(u.end_user) as end_user, sum(u.input_tokens)::bigint as input_tokens,
    sum(u.cached_input_tokens)::bigint as cached_input_tokens, sum(u.output_tokens)::bigint as output_tokens,
    sum(u.amount_micros)::bigint as amount_micros
  from usage_record u, p where u.session = s.session and u.account_id = s.account_id and ${IN_DAYS('u')}
) sums
order by s.created_at desc, s.id desc`;

const REQUESTS = `
select ${RECORD_COLUMNS}, upstream, cost_worth_micros from usage_record
where account_id = $1 and session = $2 and created_at >= moment_of($3::date::timestamp, $8)
  and created_at < moment_of(($4::date + 1)::timestamp, $8)
  and ($5::timestamptz is null or (created_at >= $5 and (created_at, id) > ($5, $6)))
order by created_at, id limit $7`;

/** Tells what the sessions of agents did and cost. */
@Injectable()
export class AgentSessionsService {
  constructor(private readonly database: Database) {}

  /** Those with the newest request first. */
  async list(query: AgentSessionsQuery, page: PageRequest): Promise<Page<AgentSession>> {
    const { accountId, from, to, text } = query;
    const position = fromCursor(page.cursor);
    const [, id, asOf] = position ? (POSITION.exec(position.id) ?? []) : [];
    if (position && asOf === undefined) throw foreignCursor();
    const values: unknown[] = [from, to, asOf ?? null, position?.time ?? null, id ?? null, text, page.limit + 1];
    values.push(query.timeZone ?? 'UTC');
    const ofAccount = accountId === null ? '' : ` and r.account_id = $${values.push(accountId)}`;
    const statement = { text: sessionsText(ofAccount), values };
    const { rows } = await this.database.of(accountId).query<SessionRow>(statement);
    const shown = rows.slice(0, page.limit);
    const last = shown.at(-1);
    const hasMore = rows.length > page.limit && last !== undefined;
    return {
      items: shown.map(({ id: _id, as_of: _asOf, ...session }) => session),
      // The moment of the first page goes along.
      nextCursor: hasMore ? toCursor({ time: last.time, id: `${last.id}-${last.as_of}` }) : null,
    };
  }

  /** The requests of one session, in their order, with what only operators see. */
  async requests(
    { accountId, session, from, to, timeZone }: UsageQuery & { readonly accountId: string; readonly session: string },
    page: PageRequest,
  ): Promise<Page<ListedRow>> {
    const position = fromCursor(page.cursor);
    const [time, id] = [position?.time ?? null, position?.id ?? null];
    const values = [accountId, session, from, to, time, id, page.limit + 1, timeZone ?? 'UTC'];
    const { rows } = await this.database.of(accountId).query<ListedRow>({ text: REQUESTS, values });
    return toPage(rows, page.limit);
  }
}
