import { Injectable } from '@nestjs/common';
import { GatewayError } from '#contracts';
import { Database, type WebhookDelivery } from '#platform';
import { AuditedChanges, changeOf, type Operator } from '../audit/audit.js';
import { foreignCursor, type Page, pageByLastId, type PageRequest } from '../paging/page.js';

/** Which deliveries; null: whatever. */
export interface DeliverySearch {
  readonly accountId: string | null;
  readonly endpointId: string | null;
  readonly taskId: string | null;
  readonly status: 'pending' | 'delivered' | 'failed' | null;
}

/** A delivery as operators see it. The body stays with the account. */
export interface OperatorDelivery extends Omit<WebhookDelivery, 'payload' | 'ready' | 'state'> {
  readonly status: string;
}

const DELIVERY_ID = /^\w{1,100}$/;

/** The deliveries of all accounts, newest first, and sending one again. */
@Injectable()
export class DeliverySearchService {
  constructor(
    private readonly database: Database,
    private readonly changes: AuditedChanges,
  ) {}

  /** `cursor`: the last delivery of the page before. @throws GatewayError `invalid_parameter`: no such cursor. */
  async find(
    { accountId, endpointId, taskId, status }: DeliverySearch,
    page: PageRequest,
  ): Promise<Page<OperatorDelivery>> {
    if (page.cursor !== null && !DELIVERY_ID.test(page.cursor)) throw foreignCursor();
    const where = {
      ...(accountId !== null && { accountId }),
      ...(endpointId !== null && { endpointId }),
      ...(taskId !== null && { taskId }),
      ...(status !== null && { state: status }),
      ...(page.cursor !== null && { id: { lt: page.cursor } }),
    };
    const rows = await this.database
      .ofOperators()
      .withModels(({ webhookDelivery }) =>
        webhookDelivery.findMany({ where, orderBy: { id: 'desc' }, take: page.limit + 1 }),
      );
    return pageByLastId(rows.map(toOperatorDelivery), page.limit);
  }

  /** Sends it again at once, under the same id and with the same body. @throws GatewayError `not_found`. */
  redeliver(operator: Operator, deliveryId: string): Promise<OperatorDelivery> {
    return this.changes.run(operator, async (transaction) => {
      const where = { id: deliveryId };
      // By the clock of the database, as those who send it ask.
      const [locked] = await transaction.$queryRaw<
        { at: Date }[]
      >`select now() as at from webhook_delivery where id = ${deliveryId} for update`;
      const before = await transaction.webhookDelivery.findUnique({ where });
      if (!before || !locked)
        throw new GatewayError('not_found', `There is no webhook delivery "${deliveryId.slice(0, 64)}".`);
      const data = { state: 'pending', nextAttemptAt: locked.at, finishedAt: null };
      const after = await transaction.webhookDelivery.update({ where, data });
      const was = { status: before.state, attempts: before.attempts };
      const change = changeOf('webhook_delivery', 'webhook_delivery.redelivered', deliveryId, was, {
        status: 'pending',
      });
      return { result: toOperatorDelivery(after), change };
    });
  }
}

const toOperatorDelivery = ({
  payload: _body,
  ready: _ready,
  state,
  ...delivery
}: WebhookDelivery): OperatorDelivery => ({
  ...delivery,
  status: state,
});
