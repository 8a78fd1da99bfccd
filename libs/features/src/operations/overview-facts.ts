import { Injectable } from '@nestjs/common';
import { encodeTime } from 'ulid';
import { Database } from '#platform';

/** What the first page of an account shows besides its money. */
export interface AccountFacts {
  readonly openTasks: number;
  /** A key that its holders made or were given. */
  readonly hasKey: boolean;
  readonly hasRun: boolean;
  readonly hasWebhook: boolean;
  /** Deliveries of the last day that were given up; at most 100 are counted. */
  readonly failedDeliveries: number;
  /** Keys that end within a week. */
  readonly keysExpiring: number;
}

/** $2: the first id that a delivery of the last two days can have. Each through an index of the account, and none reads more than it counts. */
const FACTS = `
select
  (select count(*) from task where account_id = $1 and finished_at is null)::integer as "openTasks",
  exists (select from api_key where account_id = $1 and kind = 'api' and revoked_at is null) as "hasKey",
  exists (select from task where account_id = $1) or exists (select from usage_daily where account_id = $1) as "hasRun",
  exists (select from webhook_endpoint where account_id = $1 and disabled_at is null) as "hasWebhook",
  (select count(*) from (select from webhook_delivery where account_id = $1 and state = 'failed'
    and finished_at > now() - interval '1 day' and id > $2 limit 100) failed)::integer as "failedDeliveries",
  (select count(*) from api_key where account_id = $1 and revoked_at is null
    and expires_at between now() and now() + interval '7 days')::integer as "keysExpiring"`;

/** Tells how an account stands, beside its balance and its usage. */
@Injectable()
export class OverviewFacts {
  constructor(private readonly database: Database) {}

  async of(accountId: string): Promise<AccountFacts> {
    const values = [accountId, `msg_${encodeTime(Date.now() - 2 * 86_400_000, 10)}`];
    const { rows } = await this.database.of(accountId).query<AccountFacts>({ text: FACTS, values });
    const [facts] = rows;
    if (!facts) throw new Error('The facts of an account are one row');
    return facts;
  }
}
