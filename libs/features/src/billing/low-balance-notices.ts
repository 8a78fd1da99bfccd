import { Database, isConnectionError, logger, timeOrderedId } from '#platform';
import { notPaused, PausedWork } from '../observability/paused-work.js';

const log = logger('ledger');

/** The most accounts that one round notifies. */
const BATCH = 100;

/** Open work may give back what it holds: were that not counted, the balance would fall and recover with each request. */
const BALANCE = '(available_micros + held_micros)';

const LOW = `low_balance_micros is not null and low_balance_noticed_at is null
    and not unlimited and disabled_at is null and ${BALANCE} < low_balance_micros
    and ${notPaused('low-balance', 'account.id')}`;

/** $1 most accounts. */
const LOW_ACCOUNTS = `select id from account where ${LOW} order by id limit $1`;

/**
 * $1 most accounts, $2 beginning of the ids of deliveries, $3 unit of balances, $4 the only account or null. Notes each account that has fallen below what it
 * set, and writes its webhooks, in one commit: once for each fall. The event carries all that a mail needs,
 * so that a receiver only has to send it.
 */
const NOTICE = `
with low as (
  select id from account where ${LOW} and ($4::text is null or id = $4)
  order by id limit $1 for no key update skip locked
), noticed as (
  update account a set low_balance_noticed_at = now() from low where a.id = low.id
    and a.low_balance_noticed_at is null and a.available_micros + a.held_micros < a.low_balance_micros
  returning a.id, a.name, a.available_micros, a.held_micros, a.low_balance_micros
), notice as (
  select n.id, n.name, (n.available_micros / 1000000.0)::numeric(30, 6)::text as available,
    (n.held_micros / 1000000.0)::numeric(30, 6)::text as held,
    (n.low_balance_micros / 1000000.0)::numeric(30, 6)::text as below,
    coalesce((select jsonb_agg(jsonb_build_object('name', u.name, 'email', u.email, 'role', m.role) order by u.email)
      from membership m join console_user u on u.id = m.user_id
      where m.account_id = n.id and m.role in ('owner', 'finance') and u.email is not null and u.disabled_at is null), '[]') as people
  from noticed n
), written as (
  insert into webhook_delivery (id, account_id, endpoint_id, event_type, url, payload, next_attempt_at)
  select $2 || row_number() over (), t.id, e.id, 'balance.low', e.url,
    jsonb_build_object('type', 'balance.low', 'timestamp', to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'data', jsonb_build_object('account_id', t.id, 'account_name', t.name, 'available', t.available, 'held', t.held,
        'low_balance', t.below, 'currency', $3::text, 'recipients', t.people,
        'subject', 'The balance of ' || t.name || ' is low',
        'text', t.available || ' ' || $3::text || ' are left to spend in the account ' || t.name || ', below the notice threshold of '
          || t.below || ' ' || $3::text || '. Open work holds ' || t.held || ' more. Requests are refused once nothing is left.'))::text,
    now()
  from notice t join webhook_endpoint e on e.account_id = t.id and e.disabled_at is null
    and (e.event_types = '{}' or 'balance.low' = any(e.event_types))
)
select id from noticed`;

const RECOVERED = `low_balance_micros is not null and low_balance_noticed_at is not null
    and (unlimited or ${BALANCE} >= low_balance_micros) and ${notPaused('low-balance', 'account.id')}`;

const RECOVERED_ACCOUNTS = `select id from account where ${RECOVERED} order by id limit $1`;

/** An account whose balance is no longer low is notified again the next time. $1 most accounts, $2 the only account or null. */
const RECOVER = `
update account set low_balance_noticed_at = null where id = any(array(
  select id from account where ${RECOVERED} and ($2::text is null or id = $2)
  order by id limit $1 for no key update skip locked))`;

/** Notifies accounts once that their balance has fallen below the limit they set. */
export class LowBalanceNotices {
  private readonly paused: PausedWork;

  constructor(
    private readonly database: Database,
    /** The unit of balances. */
    private readonly currency: string,
  ) {
    this.paused = new PausedWork(database);
  }

  /** One round. True: more accounts may be due at once. */
  async send(): Promise<boolean> {
    await this.together(RECOVERED_ACCOUNTS, (accountId) => this.recover(accountId));
    return (await this.together(LOW_ACCOUNTS, (accountId) => this.notify(accountId))) === BATCH;
  }

  /** Works for all `accounts` at once. Where one of them fails, and with it all, for each alone. Answers for how many. */
  private async together(accounts: string, work: (accountId: string | null) => Promise<number>): Promise<number> {
    try {
      return await work(null);
    } catch (error) {
      if (isConnectionError(error)) throw error;
    }
    const { rows } = await this.database.query<{ id: string }>({ text: accounts, values: [BATCH] });
    for (const { id } of rows) await this.paused.attempt('low-balance', id, () => work(id));
    return rows.length;
  }

  private async recover(accountId: string | null): Promise<number> {
    return (await this.database.query({ text: RECOVER, values: [BATCH, accountId] })).rowCount ?? 0;
  }

  private async notify(accountId: string | null): Promise<number> {
    const values = [BATCH, timeOrderedId('msg'), this.currency, accountId];
    const { rows } = await this.database.query<{ id: string }>({ text: NOTICE, values });
    for (const { id } of rows) log.info('balance.low', { accountId: id });
    return rows.length;
  }
}
