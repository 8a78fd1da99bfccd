import { Injectable } from '@nestjs/common';
import { GatewayError } from '#contracts';
import { Database, type Prisma } from '#platform';
import { type AccountAction, AccountRate } from '../limits/account-rate.js';
import { type Page, pageByLastId } from '../paging/page.js';
import { receiverOf } from './webhook-statements.js';

const RESENDS: AccountAction = { name: 'webhook-resends', plural: 'webhooks sent again', most: 300, within: 'minute' };

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

const SHOWN_ATTEMPT = { attempt: true, status: true, error: true, durationMs: true, createdAt: true } as const;

/** One event on its way to one address. Its id is the `webhook-id` of every attempt: receivers see by it that they had it before. */
export type ShownDelivery = Prisma.WebhookDeliveryGetPayload<{ select: typeof SHOWN }>;
export type ShownAttempt = Prisma.WebhookAttemptGetPayload<{ select: typeof SHOWN_ATTEMPT }>;

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

  /** Newest first. `cursor`: the last delivery of the page before. */
  async list(
    accountId: string,
    limit: number,
    cursor: string | null,
    taskId: string | null,
  ): Promise<Page<ShownDelivery>> {
    const where = { accountId, ...(cursor !== null && { id: { lt: cursor } }), ...(taskId !== null && { taskId }) };
    const rows = await this.database
      .of(accountId)
      .withModels(({ webhookDelivery }) =>
        webhookDelivery.findMany({ where, orderBy: { id: 'desc' }, take: limit + 1, select: SHOWN }),
      );
    return pageByLastId(rows, limit);
  }

  /** With every attempt that was made. @throws GatewayError `not_found`. */
  async read(
    accountId: string,
    deliveryId: string,
  ): Promise<ShownDelivery & { readonly log: readonly ShownAttempt[] }> {
    const row = await this.database.of(accountId).withModels(({ webhookDelivery }) =>
      webhookDelivery.findUnique({
        where: { id: deliveryId, accountId },
        select: { ...SHOWN, log: { orderBy: { attempt: 'asc' }, select: SHOWN_ATTEMPT } },
      }),
    );
    if (!row) throw missing(deliveryId);
    return row;
  }

  /**
   * Sends it again at once, under the same id and with the same body.
   *
   * @throws GatewayError `not_found`; `rate_limit_exceeded`: too many in a minute.
   */
  async resend(accountId: string, deliveryId: string): Promise<ShownDelivery> {
    await this.rate.admit(accountId, RESENDS);
    const { rows } = await this.database.of(accountId).query({ text: RESEND, values: [accountId, deliveryId] });
    if (rows.length === 0) throw missing(deliveryId);
    const { log: _log, ...delivery } = await this.read(accountId, deliveryId);
    return delivery;
  }
}

const missing = (deliveryId: string): GatewayError =>
  new GatewayError('not_found', `There is no webhook delivery "${deliveryId.slice(0, 64)}" in this account.`);
