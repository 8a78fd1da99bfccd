import { GatewayError } from '#contracts';
import { type Database } from '#platform';
import type { AccountAction, AccountRate } from '../limits/account-rate.js';

const RESENDS: AccountAction = { name: 'webhook-resends', plural: 'webhooks again', perMinute: 300 };

/** One call of a delivery. */
export interface WebhookAttemptView {
  readonly attempt: number;
  /** HTTP status of the answer; null when there was none. */
  readonly status: number | null;
  readonly error: string | null;
  readonly duration_ms: number;
  readonly created: number;
}

/** One event on its way to one address. Times are Unix seconds. */
export interface WebhookDeliveryView {
  /** The `webhook-id` of every attempt: receivers see by it that they had the event before. */
  readonly id: string;
  readonly object: 'webhook_delivery';
  readonly event_type: string;
  readonly task_id: string | null;
  readonly endpoint_id: string | null;
  readonly url: string;
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly created: number;
  readonly next_attempt: number | null;
}

/** A page of the delivery log, newest first. */
export interface ListedDeliveries {
  readonly deliveries: readonly WebhookDeliveryView[];
  readonly nextCursor: string | null;
}

interface DeliveryRow {
  readonly id: string;
  readonly event_type: string;
  readonly task_id: string | null;
  readonly endpoint_id: string | null;
  readonly url: string;
  readonly state: WebhookDeliveryView['status'];
  readonly attempts: number;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly created_at: Date;
  readonly next_attempt_at: Date | null;
}

const COLUMNS = `
id, event_type, task_id, endpoint_id, url, state, attempts, last_status, last_error, created_at, next_attempt_at`;
const LIST = `
select ${COLUMNS} from webhook_delivery
where account_id = $1 and id < coalesce($2, 'msg_~') and ($3::text is null or task_id = $3)
order by id desc limit $4`;
const READ = `select ${COLUMNS} from webhook_delivery where account_id = $1 and id = $2`;
const ATTEMPTS = `
select attempt, status, error, duration_ms, created_at from webhook_attempt where delivery_id = $1 order by attempt`;
/** A receiver that rests is tried once at once: its owner says that it is back. */
const RESEND = `
with roused as (
  update webhook_receiver set rests_until = now() where account_id = $1 and rests_until > now()
    and receiver = (select split_part(url, '/', 3) from webhook_delivery where account_id = $1 and id = $2)
)
update webhook_delivery set state = 'pending', ready = true, next_attempt_at = now(), finished_at = null
where account_id = $1 and id = $2 returning ${COLUMNS}`;

/** The log of an account's webhooks, and sending one again. */
export class WebhookDeliveriesService {
  constructor(
    private readonly database: Database,
    private readonly rate: AccountRate,
  ) {}

  /** `cursor`: the last delivery of the page before. */
  async list(
    accountId: string,
    limit: number,
    cursor: string | null,
    taskId: string | null,
  ): Promise<ListedDeliveries> {
    const values = [accountId, cursor, taskId, limit + 1];
    const { rows } = await this.database.query<DeliveryRow>({ text: LIST, values });
    const shown = rows.slice(0, limit);
    return { deliveries: shown.map(toView), nextCursor: rows.length > limit ? (shown.at(-1)?.id ?? null) : null };
  }

  /** With every attempt that was made. @throws GatewayError `not_found`. */
  async read(
    accountId: string,
    deliveryId: string,
  ): Promise<WebhookDeliveryView & { readonly log: readonly WebhookAttemptView[] }> {
    const { rows } = await this.database.query<DeliveryRow>({ text: READ, values: [accountId, deliveryId] });
    const [row] = rows;
    if (!row) throw missing(deliveryId);
    const { rows: attempts } = await this.database.query<
      Omit<WebhookAttemptView, 'created'> & { readonly created_at: Date }
    >({ text: ATTEMPTS, values: [deliveryId] });
    const log = attempts.map(({ created_at, ...attempt }) => ({ ...attempt, created: unixSeconds(created_at) }));
    return { ...toView(row), log };
  }

  /**
   * Sends it again at once, under the same id and with the same body.
   *
   * @throws GatewayError `not_found`; `rate_limit_exceeded`: too many in a minute.
   */
  async resend(accountId: string, deliveryId: string): Promise<WebhookDeliveryView> {
    await this.rate.admit(accountId, RESENDS);
    const { rows } = await this.database.query<DeliveryRow>({ text: RESEND, values: [accountId, deliveryId] });
    const [row] = rows;
    if (!row) throw missing(deliveryId);
    return toView(row);
  }
}

const unixSeconds = (date: Date): number => Math.floor(date.getTime() / 1000);

const toView = ({ state, created_at, next_attempt_at, ...row }: DeliveryRow): WebhookDeliveryView => ({
  ...row,
  object: 'webhook_delivery',
  status: state,
  created: unixSeconds(created_at),
  next_attempt: next_attempt_at === null ? null : unixSeconds(next_attempt_at),
});

const missing = (deliveryId: string): GatewayError =>
  new GatewayError('not_found', `There is no webhook delivery "${deliveryId.slice(0, 64)}" in this account.`);
