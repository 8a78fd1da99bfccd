import { Injectable } from '@nestjs/common';
import { GatewayError } from '#contracts';
import { Database, type ModelTransaction, type Prisma, SafeFetcher, SecretSealer, timeOrderedId } from '#platform';
import { type AccountAction, AccountRate } from '../limits/account-rate.js';
import { TEST_EVENT, WEBHOOK_EVENTS, type WebhookEvent } from './webhook-statements.js';
import { newWebhookSecret, SECRET_OVERLAP_SECONDS } from './webhook-signers.js';
import { checkWebhookUrl } from '../tasks/submit/webhook-url.js';

const ENDPOINTS_MAX = 20;
/** The most of them with those that were removed of late or have deliveries in the log. */
const ENDPOINT_ROWS_MAX = 1_000;
/** The most test events of an account that may be on their way: those that fail are tried again for a day. */
const OPEN_TESTS_MAX = 20;
/** Due at once by the clock of the database, which is asked who is due. $1 its id, $2 account, $3 endpoint, $4 type, $5 URL. */
const INSERT_TEST = `
insert into webhook_delivery (id, account_id, endpoint_id, event_type, url, payload, next_attempt_at)
values ($1, $2, $3, $4, $5, '', now())`;
const TESTS: AccountAction = { name: 'webhook-tests', plural: 'test webhooks', most: 10, within: 'minute' };

/** What an endpoint is made from, not yet checked. */
interface WebhookEndpointInput {
  readonly url?: unknown;
  readonly event_types?: unknown;
}

/** The fields its owner may see. */
const SHOWN = { id: true, url: true, eventTypes: true, createdAt: true } as const;

/** An endpoint as its owner sees it; without types of events it gets all. The secret is shown once, when it was made. */
export type ShownEndpoint = Prisma.WebhookEndpointGetPayload<{ select: typeof SHOWN }>;
type NewEndpoint = ShownEndpoint & { readonly secret: string };

@Injectable()
export class WebhookEndpointsService {
  constructor(
    private readonly database: Database,
    private readonly fetcher: SafeFetcher,
    private readonly sealer: SecretSealer,
    private readonly rate: AccountRate,
  ) {}

  /** @throws GatewayError `invalid_parameter` naming the field; `conflict` when the account has as many as it may. */
  async add(accountId: string, input: WebhookEndpointInput): Promise<NewEndpoint> {
    const url = checkWebhookUrl(this.fetcher, input.url, 'url');
    const id = timeOrderedId('whe');
    const secret = newWebhookSecret();
    const eventTypes = readEventTypes(input.event_types);
    const data = { id, accountId, url, eventTypes, secretSealed: new Uint8Array(this.sealer.seal(secret, id)) };
    const add = async (transaction: ModelTransaction) => {
      // Two that are added at once take turns here, or both would count without the other.
      await transaction.$queryRaw`select pg_advisory_xact_lock(hashtext('webhook_endpoint'), hashtext(${accountId}))::text`;
      const open = await transaction.webhookEndpoint.count({ where: { accountId, disabledAt: null } });
      if ((await transaction.webhookEndpoint.count({ where: { accountId } })) >= ENDPOINT_ROWS_MAX)
        throw tooManyRemoved();
      return open < ENDPOINTS_MAX ? transaction.webhookEndpoint.create({ data, select: SHOWN }) : null;
    };
    const row = await this.database.of(accountId).withModels((models) => models.$transaction(add));
    if (!row) throw new GatewayError('conflict', `An account may have at most ${ENDPOINTS_MAX} webhook endpoints.`);
    return { ...row, secret };
  }

  /** Newest first, without their secrets. */
  async list(accountId: string): Promise<ShownEndpoint[]> {
    const where = { accountId, disabledAt: null };
    return this.database
      .of(accountId)
      .withModels(({ webhookEndpoint }) => webhookEndpoint.findMany({ where, orderBy: { id: 'desc' }, select: SHOWN }));
  }

  /** Nothing new is sent to it; what is on its way is given up. @throws GatewayError `not_found`. */
  async remove(accountId: string, endpointId: string): Promise<void> {
    const where = { id: endpointId, accountId, disabledAt: null };
    const { count } = await this.database
      .of(accountId)
      .withModels(({ webhookEndpoint }) => webhookEndpoint.updateMany({ where, data: { disabledAt: new Date() } }));
    if (count === 0) throw missing(endpointId);
  }

  /** A new secret; the old one keeps signing beside it for a day. @throws GatewayError `not_found`. */
  async rotateSecret(accountId: string, endpointId: string): Promise<NewEndpoint> {
    const secret = newWebhookSecret();
    const sealed = new Uint8Array(this.sealer.seal(secret, endpointId));
    const rotate = async (transaction: ModelTransaction) => {
      const where = { id: endpointId, accountId, disabledAt: null };
      await transaction.$queryRaw`select id from webhook_endpoint where id = ${endpointId} for update`;
      const before = await transaction.webhookEndpoint.findUnique({ where });
      if (!before) throw missing(endpointId);
      const data = {
        secretSealed: sealed,
        previousSecretSealed: before.secretSealed,
        previousSecretUntil: new Date(Date.now() + SECRET_OVERLAP_SECONDS * 1000),
      };
      return transaction.webhookEndpoint.update({ where, data, select: SHOWN });
    };
    const row = await this.database.of(accountId).withModels((models) => models.$transaction(rotate));
    return { ...row, secret };
  }

  /**
   * Sends a test event; answers the id of its delivery.
   *
   * @throws GatewayError `not_found`; `rate_limit_exceeded`: too many in a minute, or on their way.
   */
  async test(accountId: string, endpointId: string): Promise<string> {
    await this.rate.admit(accountId, TESTS);
    const database = this.database.of(accountId);
    // It waits for its next attempt.
    const where = { accountId, eventType: TEST_EVENT, nextAttemptAt: { not: null } };
    const open = await database.withModels(({ webhookDelivery }) =>
      webhookDelivery.findMany({ where, select: { id: true }, take: OPEN_TESTS_MAX }),
    );
    if (open.length === OPEN_TESTS_MAX) {
      const message = `${OPEN_TESTS_MAX} test webhooks of the account are still on their way; remove the endpoints that do not answer, or wait.`;
      throw new GatewayError('rate_limit_exceeded', message, { retryAfterMs: 60_000 });
    }
    const endpoint = await database.withModels(({ webhookEndpoint }) =>
      webhookEndpoint.findUnique({ where: { id: endpointId, accountId, disabledAt: null } }),
    );
    if (!endpoint) throw missing(endpointId);
    const id = timeOrderedId('msg');
    const values = [id, accountId, endpointId, TEST_EVENT, endpoint.url];
    await database.query({ text: INSERT_TEST, values });
    return id;
  }
}

function readEventTypes(given: unknown): WebhookEvent[] {
  if (given === undefined || given === null) return [];
  const known = (type: unknown): type is WebhookEvent => WEBHOOK_EVENTS.some((event) => event === type);
  if (Array.isArray(given) && given.every(known)) return [...new Set(given)];
  const message = `event_types must be a list of ${WEBHOOK_EVENTS.join(', ')}; without it, all of them are sent.`;
  throw new GatewayError('invalid_parameter', message, { param: 'event_types' });
}

const tooManyRemoved = (): GatewayError =>
  new GatewayError(
    'conflict',
    `The account has removed nearly ${ENDPOINT_ROWS_MAX} webhook endpoints of late; add others later.`,
  );

const missing = (endpointId: string): GatewayError =>
  new GatewayError('not_found', `There is no webhook endpoint "${endpointId.slice(0, 64)}" in this account.`);
