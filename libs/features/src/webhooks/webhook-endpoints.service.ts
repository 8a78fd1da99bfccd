import { GatewayError } from '#contracts';
import { type Database, type SafeFetcher, type SecretSealer, timeOrderedId } from '#platform';
import type { AccountAction, AccountRate } from '../limits/account-rate.js';
import { TEST_EVENT, WEBHOOK_EVENTS, type WebhookEvent } from './webhook-events.js';
import { newWebhookSecret, SECRET_OVERLAP_SECONDS } from './webhook-secret.js';
import { checkWebhookUrl } from './webhook-url.js';

/** The most endpoints an account may have. */
const ENDPOINTS_MAX = 20;
/** The most test events of an account that may be on their way: those that fail are tried again for a day. */
const OPEN_TESTS_MAX = 20;
const TESTS: AccountAction = { name: 'webhook-tests', plural: 'test webhooks', perMinute: 10 };

/** An endpoint as its owner sees it. Times are Unix seconds. */
export interface WebhookEndpointView {
  readonly id: string;
  readonly object: 'webhook_endpoint';
  readonly url: string;
  /** What it is told about; empty: everything. */
  readonly event_types: readonly string[];
  readonly created: number;
  /** Shown once, when it was made. */
  readonly secret?: string;
}

/** What an endpoint is made from, not yet checked. */
export interface WebhookEndpointInput {
  readonly url: unknown;
  readonly event_types: unknown;
}

interface EndpointRow {
  readonly id: string;
  readonly url: string;
  readonly event_types: string[];
  readonly created_at: Date;
}

/** Two that are added at once take turns here, or both would count without the other. */
const TAKE_TURN = `select pg_advisory_xact_lock(hashtext('webhook_endpoint'), hashtext($1))`;
const ADD = `
insert into webhook_endpoint (id, account_id, url, event_types, secret_sealed)
select $1, $2, $3, $4, $5
where (select count(*) from webhook_endpoint where account_id = $2 and disabled_at is null) < ${ENDPOINTS_MAX}
returning id, url, event_types, created_at`;
const LIST = `
select id, url, event_types, created_at from webhook_endpoint
where account_id = $1 and disabled_at is null order by id desc`;
const REMOVE = `
update webhook_endpoint set disabled_at = now() where account_id = $1 and id = $2 and disabled_at is null returning id`;
const ROTATE = `
update webhook_endpoint set previous_secret_sealed = secret_sealed, secret_sealed = $3,
  previous_secret_until = now() + $4::integer * interval '1 second'
where account_id = $1 and id = $2 and disabled_at is null
returning id, url, event_types, created_at`;
const ADD_TEST = `
insert into webhook_delivery (id, account_id, endpoint_id, event_type, url, payload, next_attempt_at)
select $3, account_id, id, '${TEST_EVENT}', url, '', now() from webhook_endpoint
where account_id = $1 and id = $2 and disabled_at is null
returning id`;
const MAY_TEST = `
select count(*) < ${OPEN_TESTS_MAX} as may_test from (
  select from webhook_delivery where account_id = $1 and event_type = '${TEST_EVENT}' and next_attempt_at is not null
  limit ${OPEN_TESTS_MAX}) as open`;

/** Where an account wants to be told about all its tasks. */
export class WebhookEndpointsService {
  constructor(
    private readonly database: Database,
    private readonly fetcher: SafeFetcher,
    private readonly sealer: SecretSealer,
    private readonly rate: AccountRate,
  ) {}

  /** @throws GatewayError `invalid_parameter` naming the field; `conflict` when the account has as many as it may. */
  async add(accountId: string, input: WebhookEndpointInput): Promise<WebhookEndpointView> {
    const url = checkWebhookUrl(this.fetcher, input.url, 'url');
    const id = timeOrderedId('whe');
    const secret = newWebhookSecret();
    const values = [id, accountId, url, readEventTypes(input.event_types), this.sealer.seal(secret, id)];
    const { rows } = await this.database.transaction(async (transaction) => {
      await transaction.query({ text: TAKE_TURN, values: [accountId] });
      return transaction.query<EndpointRow>({ text: ADD, values });
    });
    const [row] = rows;
    if (!row) throw new GatewayError('conflict', `An account may have at most ${ENDPOINTS_MAX} webhook endpoints.`);
    return { ...toView(row), secret };
  }

  /** Newest first, without their secrets. */
  async list(accountId: string): Promise<WebhookEndpointView[]> {
    const { rows } = await this.database.query<EndpointRow>({ text: LIST, values: [accountId] });
    return rows.map(toView);
  }

  /** Nothing new is sent to it; what is on its way is given up. @throws GatewayError `not_found`. */
  async remove(accountId: string, endpointId: string): Promise<void> {
    const { rows } = await this.database.query({ text: REMOVE, values: [accountId, endpointId] });
    if (rows.length === 0) throw missing(endpointId);
  }

  /** A new secret; the old one goes on signing beside it for a day. @throws GatewayError `not_found`. */
  async rotateSecret(accountId: string, endpointId: string): Promise<WebhookEndpointView> {
    const secret = newWebhookSecret();
    const values = [accountId, endpointId, this.sealer.seal(secret, endpointId), SECRET_OVERLAP_SECONDS];
    const { rows } = await this.database.query<EndpointRow>({ text: ROTATE, values });
    const [row] = rows;
    if (!row) throw missing(endpointId);
    return { ...toView(row), secret };
  }

  /**
   * Sends a test event; answers the id of its delivery.
   *
   * @throws GatewayError `not_found`; `rate_limit_exceeded`: too many in a minute, or on their way.
   */
  async test(accountId: string, endpointId: string): Promise<string> {
    await this.rate.admit(accountId, TESTS);
    const open = await this.database.query<{ may_test: boolean }>({ text: MAY_TEST, values: [accountId] });
    if (!open.rows[0]?.may_test) {
      const message = `${OPEN_TESTS_MAX} test webhooks of the account are still on their way; remove the endpoints that do not answer, or wait.`;
      throw new GatewayError('rate_limit_exceeded', message, { retryAfterMs: 60_000 });
    }
    const values = [accountId, endpointId, timeOrderedId('msg')];
    const { rows } = await this.database.query<{ id: string }>({ text: ADD_TEST, values });
    const [delivery] = rows;
    if (!delivery) throw missing(endpointId);
    return delivery.id;
  }
}

const toView = ({ id, url, event_types, created_at }: EndpointRow): WebhookEndpointView => ({
  id,
  object: 'webhook_endpoint',
  url,
  event_types,
  created: Math.floor(created_at.getTime() / 1000),
});

function readEventTypes(given: unknown): WebhookEvent[] {
  if (given === undefined || given === null) return [];
  const known = (type: unknown): type is WebhookEvent => WEBHOOK_EVENTS.some((event) => event === type);
  if (Array.isArray(given) && given.every(known)) return [...new Set(given)];
  const message = `event_types must be a list of ${WEBHOOK_EVENTS.join(', ')}; without it, all of them are sent.`;
  throw new GatewayError('invalid_parameter', message, { param: 'event_types' });
}

const missing = (endpointId: string): GatewayError =>
  new GatewayError('not_found', `There is no webhook endpoint "${endpointId.slice(0, 64)}" in this account.`);
