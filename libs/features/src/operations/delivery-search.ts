import { GatewayError } from '#contracts';
import type { Database } from '#platform';
import type { AuditedChanges, Operator } from '../admin/audit.js';
import type { Page } from '../paging/page.js';

/** Which deliveries; null: whatever. */
export interface DeliverySearch {
  readonly accountId: string | null;
  readonly endpointId: string | null;
  readonly taskId: string | null;
  readonly status: 'pending' | 'delivered' | 'failed' | null;
}

/** A delivery as operators see it. The body stays with the account. */
export interface OperatorDelivery {
  readonly id: string;
  readonly account_id: string;
  readonly endpoint_id: string | null;
  readonly task_id: string | null;
  readonly event_type: string;
  readonly url: string;
  readonly status: string;
  readonly attempts: number;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly created_at: Date;
  readonly next_attempt_at: Date | null;
  readonly finished_at: Date | null;
}

const COLUMNS = `id, account_id, endpoint_id, task_id, event_type, url, state as status, attempts, last_status, last_error,
  created_at, next_attempt_at, finished_at`;
const RESEND = `
update webhook_delivery set state = 'pending', next_attempt_at = now(), finished_at = null where id = $1
returning ${COLUMNS}`;
const LOCKED = `select ${COLUMNS} from webhook_delivery where id = $1 for update`;
const DELIVERY_ID = /^\w{1,100}$/;

/** The deliveries of all accounts, newest first, and sending one again. */
export class DeliverySearchService {
  constructor(
    private readonly database: Database,
    private readonly changes: AuditedChanges,
  ) {}

  /** `cursor`: the last delivery of the page before. @throws GatewayError `invalid_parameter`: no such cursor. */
  async find(
    { accountId, endpointId, taskId, status }: DeliverySearch,
    page: { readonly limit: number; readonly cursor: string | null },
  ): Promise<Page<OperatorDelivery>> {
    if (page.cursor !== null && !DELIVERY_ID.test(page.cursor)) {
      throw new GatewayError('invalid_parameter', 'cursor must be the next_cursor of an earlier answer.', {
        param: 'cursor',
      });
    }
    const given = [
      ['account_id =', accountId],
      ['endpoint_id =', endpointId],
      ['task_id =', taskId],
      ['state =', status],
      ['id <', page.cursor],
    ].filter((condition): condition is [string, string] => condition[1] !== null);
    const where = given.map(([condition], index) => `${condition} $${index + 1}`).join(' and ');
    const text = `select ${COLUMNS} from webhook_delivery ${where && `where ${where}`} order by id desc limit $${given.length + 1}`;
    const values = [...given.map(([, value]) => value), page.limit + 1];
    const { rows } = await this.database.query<OperatorDelivery>({ text, values });
    const items = rows.slice(0, page.limit);
    return { items, nextCursor: rows.length > page.limit ? (items.at(-1)?.id ?? null) : null };
  }

  /** Sends it again at once, under the same id and with the same body. @throws GatewayError `not_found`. */
  redeliver(operator: Operator, deliveryId: string): Promise<OperatorDelivery> {
    return this.changes.run(operator, async (transaction) => {
      const [before] = (await transaction.query<OperatorDelivery>({ text: LOCKED, values: [deliveryId] })).rows;
      if (!before) throw new GatewayError('not_found', `There is no webhook delivery "${deliveryId.slice(0, 64)}".`);
      const [after] = (await transaction.query<OperatorDelivery>({ text: RESEND, values: [deliveryId] })).rows;
      const change = {
        action: 'webhook_delivery.redelivered',
        subjectType: 'webhook_delivery' as const,
        subjectId: deliveryId,
        before: { status: before.status, attempts: before.attempts },
        after: { status: 'pending' },
      };
      return { result: after ?? before, change };
    });
  }
}
