import { Injectable } from '@nestjs/common';
import { KEEP_MARGINS } from './margin-statements.js';
import { Database, logger, mayStillBeWritten, type StatementRunner } from '#platform';

const log = logger('usage');

const DAY_MS = 86_400_000;

/** The most days that are closed at once, so that a long backlog goes in steps. */
const DAYS_AT_ONCE = 31;

const TAKE_TURN = `select pg_try_advisory_xact_lock(hashtext('usage_closed_day')) as alone`;

/** The first day without sums, which nothing is behind, and how far to go. Null: nothing to close. $1 last day. */
const NEXT_DAYS = `
select to_char(first, 'YYYY-MM-DD') as first,
  to_char(least($1::date, first + ${DAYS_AT_ONCE - 1}), 'YYYY-MM-DD') as last
from (select coalesce((select max(day) + 1 from usage_closed_day), (select min(day) from usage_daily)) as first) as open
where first <= $1::date`;

const SUMS = 'requests, failed_requests, amount_micros, quantity, input_tokens, output_tokens';
const SUMMED = SUMS.replaceAll(/\w+/g, 'sum($&)::bigint');

const sumsInto = (table: string, columns: string): string => `
  insert into ${table} (day, ${columns}, ${SUMS})
  select day, ${columns}, ${SUMMED} from usage_daily where day between $1::date and $2::date group by day, ${columns}`;

/** $1 first day, $2 last day. */
const CLOSE_DAYS = `
with by_model as (${sumsInto('usage_daily_by_model', 'model')}
), by_account as (${sumsInto('usage_daily_by_account', 'account_id')}
), by_key as (${sumsInto('usage_daily_by_key', 'account_id, api_key_id')}
), margins as (${KEEP_MARGINS}
)
insert into usage_closed_day (day, has_margins) select generate_series($1::date, $2::date, interval '1 day')::date, true`;

/** A day that ended less than 15 minutes ago may have statements under way whose start is not yet to be seen. */
const YESTERDAY = `select to_char(now() at time zone 'utc' - interval '1 day 15 minutes', 'YYYY-MM-DD') as day`;

interface Days {
  readonly first: string;
  readonly last: string;
}

/**
 * Sums up days that are over, over all accounts. Sums of one account are kept as its records arrive; sums of all would
 * be rows that every request of the gateway waits for, so they are made when nothing is added to them any more.
 */
@Injectable()
export class UsageDaysService {
  constructor(private readonly database: Database) {}

  /** Closes the days that are over. True: there are more to close at once. Any number of workers may call it. */
  async closeDue(): Promise<boolean> {
    const [yesterday] = (await this.database.query<{ day: string }>({ text: YESTERDAY })).rows;
    return yesterday !== undefined && this.closeUntil(yesterday.day);
  }

  /**
   * Closes the days up to `lastDay`, which must be over. Does nothing while a transaction is open that began before
   * its end, or while another worker is at it.
   */
  async closeUntil(lastDay: string): Promise<boolean> {
    const closed = await this.database.transaction((transaction) => close(transaction, lastDay));
    if (closed) log.info('usage.days_closed', { ...closed });
    return closed !== null && closed.last < lastDay;
  }
}

/** The look for writers is a statement of its own before the sums, which therefore see all that those have written. */
async function close(transaction: StatementRunner, lastDay: string): Promise<Days | null> {
  const [turn] = (await transaction.query<{ alone: boolean }>({ text: TAKE_TURN })).rows;
  if (turn?.alone !== true) return null;
  const [days] = (await transaction.query<Days>({ text: NEXT_DAYS, values: [lastDay], limit: 'long' })).rows;
  if (!days) return null;
  const endOfDays = new Date(Date.parse(days.last) + DAY_MS);
  if (await mayStillBeWritten(transaction, 'usage_daily', endOfDays)) return null;
  await transaction.query({ text: CLOSE_DAYS, values: [days.first, days.last], limit: 'long' });
  return days;
}
