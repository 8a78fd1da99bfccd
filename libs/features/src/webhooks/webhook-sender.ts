import { Webhook } from 'standardwebhooks';
import { GatewayError } from '#contracts';
import {
  type Database,
  FetchRefused,
  type FetchRefusedCode,
  isConnectionError,
  logger,
  retryOnConnectionError,
  type SafeFetcher,
} from '#platform';
import type { Failpoints, Platform } from '#runtime';
import { ReadTaskService } from '../tasks/read/read-task.service.js';
import { ReceiverCalls } from './receiver-calls.js';
import { SigningSecretService, WebhookSigners } from './webhook-signers.js';
import {
  CLAIM_DELIVERIES,
  type ClaimedDelivery,
  FORGET_OLD_FAILURES,
  KEEP_PAYLOAD,
  MAKE_READY,
  RECEIVER_POLICY,
  RECORD_ATTEMPT,
  RECORD_FAILURE,
  RECORD_SUCCESS,
  TEST_EVENT,
} from './webhook-statements.js';

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Seconds between the attempts of a delivery: ten attempts over a day. */
const DELAYS_SECONDS = [5, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 14 * HOUR] as const;

/**
 * How long to wait after the given number of failed attempts, in milliseconds, spread by a tenth either way; null when
 * a day of attempts is over.
 */
export function retryDelayMs(attempts: number, random: () => number = Math.random): number | null {
  const seconds = DELAYS_SECONDS[attempts - 1];
  return seconds === undefined ? null : Math.round(seconds * 1000 * (0.9 + random() / 5));
}

const log = logger('webhooks');

/** Bounds of sending. Times in milliseconds. */
const SENDING = {
  /** The most calls under way at once in one process. */
  inFlight: 200,
  /** Above so many, only accounts with few calls under way get another, so that there is room for the next account. */
  inFlightOfBusy: 150,
  /** How many calls are few. */
  few: 4,
  inFlightPerAccount: 40,
  /** The most of them to one receiver of an account, so that one that never answers leaves room for the others. */
  inFlightPerReceiver: 20,
  /** The most deliveries that are made ready at once. */
  readyAtOnce: 1_000,
  /** The longest wait for a call to end while an account or a receiver has as many as it may. */
  waitMs: 250,
  /** How long a claimed delivery is ours; if this process dies, another sends it after that time. */
  leaseMs: 60_000,
  /** The longest one call may take. */
  timeoutMs: 15_000,
  /** How much of an answer is read, and for how long: its status says all. */
  replyBytes: 1_024,
  replyTimeoutMs: 1_000,
} as const;

/** What becomes of deliveries to receivers that cool down. Times in seconds. */
const COOLDOWN = {
  /** A delivery to a receiver that cools down is given up at this age: a little more than all attempts would take. */
  givenUpAfter: 28 * 3_600,
  /** A receiver that nothing was sent to for so long begins again. */
  forgottenAfter: 48 * 3_600,
} as const;
const FORGET_EVERY_MS = 600_000;

/** A receiver that answers this wants nothing more. */
const GONE = 410;

/** The result of one call. */
interface Outcome {
  readonly status: number | null;
  readonly error: string | null;
  /** Whether another attempt may help. */
  readonly mayPass: boolean;
}

/**
 * Sends webhooks: at least once each, under a stable id, signed by every secret that is in force. Each attempt goes
 * through the safe fetcher, which judges the address again.
 */
export class WebhookSender {
  private readonly calls = new ReceiverCalls();
  private servedLast = '';
  private forgetAtMs = 0;

  constructor(
    private readonly database: Database,
    private readonly fetcher: SafeFetcher,
    private readonly tasks: ReadTaskService,
    private readonly signers: WebhookSigners,
    private readonly failpoints: Failpoints,
  ) {}

  /** Begins to send what is due. True: more may be due at once. */
  async sendDue(): Promise<boolean> {
    await this.forgetOldFailures();
    const promoted = await this.run('make_deliveries_ready', MAKE_READY, [SENDING.readyAtOnce]);
    const free = SENDING.inFlight - this.calls.total;
    // A limit that was reached before the claim may have kept something back, even if its calls have ended meanwhile.
    const wasBusy = this.isBusy;
    const claimed = free > 0 && (await this.claim(free));
    if (claimed || promoted.length === SENDING.readyAtOnce) return true;
    if (!this.isBusy) return wasBusy;
    await this.calls.anyEnded(SENDING.waitMs);
    return true;
  }

  private get isBusy(): boolean {
    return this.calls.isBusy(SENDING.inFlight, SENDING.inFlightPerAccount, SENDING.inFlightPerReceiver);
  }

  /** True: something was ready, and more may be behind it. */
  private async claim(free: number): Promise<boolean> {
    const { accounts, receivers, counts, served } = this.calls.state();
    const { leaseMs, inFlightPerReceiver, inFlightPerAccount, inFlightOfBusy, few } = SENDING;
    const due = await this.run<ClaimedDelivery>('claim_deliveries', CLAIM_DELIVERIES, [
      free,
      leaseMs,
      inFlightPerReceiver,
      inFlightPerAccount,
      this.servedLast,
      accounts,
      receivers,
      counts,
      served,
      Math.max(0, inFlightOfBusy - this.calls.total),
      few,
      RECEIVER_POLICY.failures,
      COOLDOWN.givenUpAfter,
    ]);
    const claimed = due.filter((delivery) => !delivery.cooling_down);
    if (claimed.length > 0) this.failpoints.reach('after-delivery-claim');
    for (const delivery of claimed) this.calls.begin(delivery, this.send(delivery));
    this.servedLast = claimed.toSorted((one, other) => one.turn - other.turn).at(-1)?.account_id ?? this.servedLast;
    return due.length > 0;
  }

  private async forgetOldFailures(): Promise<void> {
    if (performance.now() < this.forgetAtMs) return;
    this.forgetAtMs = performance.now() + FORGET_EVERY_MS;
    await this.run('forget_old_failures', FORGET_OLD_FAILURES, [COOLDOWN.forgottenAfter]);
  }

  /** Resolves when the calls under way are over. */
  finished(): Promise<void> {
    return this.calls.finished();
  }

  /** Never throws: a database that is away lets the claim lapse, and it is tried again. */
  private async send(delivery: ClaimedDelivery): Promise<void> {
    try {
      const beganAt = performance.now();
      const outcome = await this.call(delivery);
      this.failpoints.reach('after-delivery-sent');
      await this.record(delivery, outcome, Math.round(performance.now() - beganAt));
      await this.recordOutcome(delivery, outcome.status === null && outcome.mayPass);
    } catch (error) {
      log.error('webhook.send_failed', { deliveryId: delivery.id, error });
      if (!isConnectionError(error)) await this.countOurFailure(delivery);
    }
  }

  /** So that it is tried again after the growing pauses of every delivery, and given up with them. */
  private async countOurFailure(delivery: ClaimedDelivery): Promise<void> {
    await this.record(delivery, { status: null, error: 'The gateway could not send it.', mayPass: true }, 0).catch(
      (error: unknown) => log.error('webhook.record_failed', { deliveryId: delivery.id, error }),
    );
  }

  private async call(delivery: ClaimedDelivery): Promise<Outcome> {
    const secrets = await this.signers.secretsFor(delivery.account_id, delivery.endpoint_id);
    if (secrets === null) return { status: null, error: 'The endpoint was removed.', mayPass: false };
    const payload = delivery.payload || (await this.writePayload(delivery));
    if (payload === null) return { status: null, error: 'The task is gone.', mayPass: false };
    const now = new Date();
    const signature = secrets.map((secret) => new Webhook(secret).sign(delivery.id, now, payload)).join(' ');
    try {
      const { status } = await this.fetcher.post(delivery.url, {
        accountId: delivery.account_id,
        body: payload,
        headers: {
          'content-type': 'application/json',
          'webhook-id': delivery.id,
          'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
          'webhook-signature': signature,
        },
        timeoutMs: SENDING.timeoutMs,
        maxReplyBytes: SENDING.replyBytes,
        replyTimeoutMs: SENDING.replyTimeoutMs,
      });
      const accepted = status >= 200 && status < 300;
      return { status, error: accepted ? null : `The receiver answered ${status}.`, mayPass: status !== GONE };
    } catch (error) {
      return { status: null, error: error instanceof Error ? error.message : String(error), mayPass: !isRule(error) };
    }
  }

  /** Written when it is first sent and kept, so that every attempt carries the same bytes. Null: there is nothing to tell any more. */
  private async writePayload({
    id,
    account_id,
    task_id,
    event_type,
    created_at,
  }: ClaimedDelivery): Promise<string | null> {
    const data =
      task_id === null || event_type === TEST_EVENT
        ? { message: 'This is a test. Real events carry a task here, as GET /v1/tasks/{task_id} shows it.' }
        : await this.tasks.read(account_id, task_id).catch(nullWhereGone);
    if (data === null) return null;
    const payload = JSON.stringify({ type: event_type, timestamp: created_at.toISOString(), data });
    await this.run('keep_payload', KEEP_PAYLOAD, [id, payload]);
    return payload;
  }

  private async record(
    delivery: ClaimedDelivery,
    { status, error, mayPass }: Outcome,
    durationMs: number,
  ): Promise<void> {
    const delayMs = error !== null && mayPass ? retryDelayMs(delivery.attempts) : null;
    const state = error === null ? 'delivered' : delayMs === null ? 'failed' : 'pending';
    const values = [delivery.id, delivery.attempts, status, error, durationMs, state, delayMs];
    await this.run('record_attempt', RECORD_ATTEMPT, values);
    if (status === GONE && delivery.endpoint_id) await this.signers.disable(delivery.endpoint_id);
    log.info('webhook.sent', { deliveryId: delivery.id, taskId: delivery.task_id, status, state, durationMs });
  }

  private async recordOutcome({ account_id, receiver, failures }: ClaimedDelivery, isSilent: boolean): Promise<void> {
    if (isSilent) await this.run('record_receiver_failure', RECORD_FAILURE, [account_id, receiver]);
    else if (failures > 0) await this.run('record_receiver_success', RECORD_SUCCESS, [account_id, receiver]);
  }

  private async run<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    const { rows } = await retryOnConnectionError(() => this.database.query<Row>({ name, text, values }));
    return rows;
  }
}

/** Refusals that say nothing of the address: the name may lead elsewhere tomorrow, or the server answer in another way. */
const PASSING_REFUSALS: ReadonlySet<string> = new Set<FetchRefusedCode>([
  'address_blocked',
  'too_many_interim_responses',
]);

function nullWhereGone(error: unknown): null {
  if (error instanceof GatewayError && error.code === 'task_not_found') return null;
  throw error;
}

/** A rule that the address itself breaks. */
const isRule = (error: unknown): boolean => error instanceof FetchRefused && !PASSING_REFUSALS.has(error.code);

/** The sender of webhooks for a worker process. */
export function createWebhookSender({ config, database, fetcher, store, sealer, failpoints }: Platform): WebhookSender {
  const tasks = new ReadTaskService(database, store, config.server.BALANCE_UNIT);
  const signers = new WebhookSigners(database, sealer, new SigningSecretService(database, sealer));
  return new WebhookSender(database, fetcher, tasks, signers, failpoints);
}
