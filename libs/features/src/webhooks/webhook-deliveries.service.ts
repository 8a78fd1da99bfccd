import { Injectable } from '@nestjs/common';
import { GatewayError } from '#contracts';
import { Database, type WebhookAttempt, type WebhookDelivery } from '#platform';
import { type AccountAction, AccountRate } from '../limits/account-rate.js';
import { receiverOf } from './webhook-statements.js';

const RESENDS: AccountAction = { name: 'webhook-resends', plural: 'webhooks again', perMinute: 300 };

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

/** The fields its owner may see. */
const SHOWN = {
  id: true,
  eventType: true,
  taskId: true,
  endpointId: true,
  url: true,
  state: true,
  attempts: true,
  lastStatus: true,
  lastError: true,
  createdAt: true,
  nextAttemptAt: true,
} as const;

type DeliveryRow = Pick<WebhookDelivery, keyof typeof SHOWN>;

/** A cooldown of the receiver ends with it: its owner says that it is back. One statement, so that both or neither happen. */
const RESEND = `
with reopened as (
  update webhook_receiver set cooling_until = now() where account_id = $1 and cooling_until > now()
    and receiver = (select ${receiverOf('url')} from webhook_delivery where account_id = $1 and id = $2)
)
update webhook_delivery set state = 'pending', ready = true, next_attempt_at = now(), finished_at = null
where account_id = $1 and id = $2 returning id`;

/** The log of an account's webhooks, and sending one again. */
@Injectable()
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
    const where = { accountId, ...(cursor !== null && { id: { lt: cursor } }), ...(taskId !== null && { taskId }) };
    const rows = await this.database
      .of(accountId)
      .withModels(({ webhookDelivery }) =>
        webhookDelivery.findMany({ where, orderBy: { id: 'desc' }, take: limit + 1, select: SHOWN }),
      );
    const shown = rows.slice(0, limit);
    return { deliveries: shown.map(toView), nextCursor: rows.length > limit ? (shown.at(-1)?.id ?? null) : null };
  }

  /** With every attempt that was made. @throws GatewayError `not_found`. */
  async read(
    accountId: string,
    deliveryId: string,
  ): Promise<WebhookDeliveryView & { readonly log: readonly WebhookAttemptView[] }> {
    const row = await this.database.of(accountId).withModels(({ webhookDelivery }) =>
      webhookDelivery.findUnique({
        where: { id: deliveryId, accountId },
        select: { ...SHOWN, log: { orderBy: { attempt: 'asc' } } },
      }),
    );
    if (!row) throw missing(deliveryId);
    return { ...toView(row), log: row.log.map(toAttemptView) };
  }

  /**
   * Sends it again at once, under the same id and with the same body.
   *
   * @throws GatewayError `not_found`; `rate_limit_exceeded`: too many in a minute.
   */
  async resend(accountId: string, deliveryId: string): Promise<WebhookDeliveryView> {
    await this.rate.admit(accountId, RESENDS);
    const { rows } = await this.database.of(accountId).query({ text: RESEND, values: [accountId, deliveryId] });
    if (rows.length === 0) throw missing(deliveryId);
    const { log: _log, ...delivery } = await this.read(accountId, deliveryId);
    return delivery;
  }
}

const unixSeconds = (date: Date): number => Math.floor(date.getTime() / 1000);

const toView = (row: DeliveryRow): WebhookDeliveryView => ({
  id: row.id,
  object: 'webhook_delivery',
  event_type: row.eventType,
  task_id: row.taskId,
  endpoint_id: row.endpointId,
  url: row.url,
  status: row.state as WebhookDeliveryView['status'],
  attempts: row.attempts,
  last_status: row.lastStatus,
  last_error: row.lastError,
  created: unixSeconds(row.createdAt),
  next_attempt: row.nextAttemptAt === null ? null : unixSeconds(row.nextAttemptAt),
});

const toAttemptView = ({ attempt, status, error, durationMs, createdAt }: WebhookAttempt): WebhookAttemptView => ({
  attempt,
  status,
  error,
  duration_ms: durationMs,
  created: unixSeconds(createdAt),
});

const missing = (deliveryId: string): GatewayError =>
  new GatewayError('not_found', `There is no webhook delivery "${deliveryId.slice(0, 64)}" in this account.`);
