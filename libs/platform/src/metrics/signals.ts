import { Counter, Gauge, Histogram } from 'prom-client';
import { metricsRegistry } from './registry.js';

/**
 * A gauge of how many of something are in flight, by one label. Counted here and exported when metrics are scraped: a gauge of
 * prom-client checks and hashes its labels at every change, which every request would pay four times.
 */
export class InFlight<Label extends string> {
  private readonly counts = new Map<string, number>();

  readonly gauge: Gauge<Label>;

  /** @param label its values must come from a closed list. */
  constructor(name: string, help: string, label: Label) {
    this.gauge = new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [metricsRegistry],
      collect: () => {
        for (const [value, count] of this.counts) this.gauge.labels(value).set(count);
      },
    });
  }

  begin(value: string): void {
    this.counts.set(value, (this.counts.get(value) ?? 0) + 1);
  }

  end(value: string): void {
    this.counts.set(value, (this.counts.get(value) ?? 0) - 1);
  }
}

/**
 * Every series of the gateway's own. Labels hold only values from closed lists (route patterns, catalogue models,
 * configured upstreams, states), never anything a caller can invent, so the number of series stays bounded.
 * Durations are seconds, money is micros.
 */

/** Seconds; from the quickest poll to the longest a client waits for one answer. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
/** Seconds; from an instant image to the deadline of the slowest video. */
const TASK_BUCKETS = [0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 3_600];

const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]): Counter<Label> =>
  new Counter({ name, help, labelNames, registers: [metricsRegistry] });

/** What each process does or holds; where several report together, the sum. */
const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]): Gauge<Label> =>
  new Gauge({ name, help, labelNames, registers: [metricsRegistry] });

/** What all processes see alike: where several report together, one speaks for all. */
const sharedGauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]): Gauge<Label> =>
  new Gauge({ name, help, labelNames, aggregator: 'first', registers: [metricsRegistry] });

/** What one process may notice before another does: where several report together, the highest. */
const warningGauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]): Gauge<Label> =>
  new Gauge({ name, help, labelNames, aggregator: 'max', registers: [metricsRegistry] });

const histogram = <Label extends string>(
  name: string,
  help: string,
  labelNames: readonly Label[],
  buckets: number[],
): Histogram<Label> => new Histogram({ name, help, labelNames, buckets, registers: [metricsRegistry] });

export const signals = {
  buildInfo: sharedGauge('gateway_build_info', 'Always 1; the version of the running process.', ['version']),

  /** `status` is the class of the status (2xx, 4xx, 5xx) so that latency does not split by code. */
  httpDuration: histogram(
    'gateway_http_request_duration_seconds',
    'Time from the first byte of a request to the last byte of its response, streams included.',
    ['method', 'route', 'style', 'status'],
    REQUEST_BUCKETS,
  ),
  httpRequests: counter('gateway_http_requests_total', 'Answered requests by status code and model.', [
    'route',
    'style',
    'model',
    'code',
  ]),
  httpInFlight: new InFlight('gateway_http_requests_in_flight', 'Requests that are being answered now.', 'style'),

  /** `outcome`: answered, failed, busy (too much was asked of it), or refused (for what the request holds). */
  upstreamDuration: histogram(
    'gateway_upstream_request_duration_seconds',
    'Time of one request to an upstream, until its response or its first byte.',
    ['upstream', 'operation', 'outcome'],
    REQUEST_BUCKETS,
  ),
  usageBeyondBounds: counter(
    'gateway_upstream_usage_beyond_bounds_total',
    'Replies whose upstream reported more tokens than its model can read or write; the charge is limited to what the model can.',
    ['upstream'],
  ),
  unpricedUsage: counter(
    'gateway_upstream_unpriced_usage_total',
    'Usage that text upstreams reported but that has no price of its own. `unit`: tokens of audio, of generated images and of long cache writes, which are then charged as text; and calls of tools that the vendor ran, which are then not charged.',
    ['upstream', 'unit'],
  ),
  textFailedOver: counter(
    'gateway_text_failed_over_total',
    'Tries of text requests that failed at an upstream, so that another one was asked or the request failed; a vendor may bill them all the same.',
    ['upstream', 'model'],
  ),
  tierUnpriced: counter(
    'gateway_text_tier_unpriced_total',
    'Replies of text upstreams that a service tier without a price served; they are charged as the tier that was asked for.',
    ['upstream', 'tier'],
  ),
  modelsWithoutPrice: warningGauge(
    'gateway_models_without_price',
    'Models on sale without a price set by an operator: a variant has no price, or only an example price.',
    [],
  ),
  sandboxSelling: warningGauge(
    'gateway_sandbox_selling',
    '1 while a gateway with DATABASE_URL sells what the built-in sandbox makes; else 0.',
    [],
  ),

  upstreamInFlight: new InFlight(
    'gateway_upstream_requests_in_flight',
    'Requests to upstreams that wait for a response.',
    'upstream',
  ),
  upstreamCoolingDown: warningGauge(
    'gateway_upstream_cooling_down',
    '1 while a text upstream gets no requests of some account, or only one that probes it, after failures; else 0.',
    ['upstream'],
  ),
  upstreamCoolingDownForAll: warningGauge(
    'gateway_upstream_cooling_down_for_all',
    '1 while a text upstream gets no requests of any account, or only one that probes it, after failures; else 0.',
    ['upstream'],
  ),

  conversations: counter(
    'gateway_text_conversations_total',
    'Text requests of models with several upstreams, by what became of their conversation: kept at its upstream, moved, void (its upstream is gone or has another key), or new.',
    ['upstream', 'outcome'],
  ),
  conversationMoves: counter(
    'gateway_text_conversation_moves_total',
    'Conversations that went on at another upstream. `reason`: cooling_down, gone, changed, priority, or the code of the failure.',
    ['reason'],
  ),
  promptEntries: counter(
    'gateway_prompt_log_entries_total',
    'Prompts and answers of accounts that have them logged: kept, or dropped because too many waited, their redaction took too long or the database refused them.',
    ['outcome'],
  ),
  inputTokens: counter(
    'gateway_text_input_tokens_total',
    'Input tokens of text requests, those from the prompt cache included.',
    ['upstream', 'model'],
  ),
  cachedInputTokens: counter(
    'gateway_text_cached_input_tokens_total',
    'Input tokens of text requests that the vendor took from its prompt cache.',
    ['upstream', 'model'],
  ),
  proofs: counter(
    'gateway_text_proofs_total',
    'Requests that reached an upstream without proofs of reasoning. `outcome`: withheld, because another account made them; retried, because the upstream refused them; dropped, by the vendor itself, which `reason` explains.',
    ['upstream', 'outcome', 'reason'],
  ),

  mediaOrders: counter(
    'gateway_media_orders_total',
    'Submissions to media upstreams by outcome. `ambiguous`: unknown whether it was accepted; `mixed_up`: the vendor gave it the id of another order; `result_lost`: it was made and paid for, but a file of it could not be fetched.',
    ['upstream', 'outcome'],
  ),
  mediaCoolingDown: warningGauge(
    'gateway_media_upstream_cooling_down',
    '1 while a media upstream gets no orders of any account, or only one that probes it, after failures; else 0.',
    ['upstream', 'medium'],
  ),
  mediaUnavailable: warningGauge(
    'gateway_media_model_unavailable',
    '1 while every upstream of a media model cools down after failures, so that its orders wait; else 0.',
    ['model'],
  ),
  mediaQuotaExceeded: counter(
    'gateway_media_quota_exceeded_total',
    'How often an order found the daily or monthly allowance of a media upstream used up.',
    ['upstream'],
  ),
  mediaCost: counter(
    'gateway_media_cost_micros_total',
    "What media upstreams took for tasks that ended, in millionths of the vendor's own unit.",
    ['upstream', 'unit'],
  ),
  mediaWorth: counter(
    'gateway_media_cost_worth_micros_total',
    'What media upstreams charged for finished tasks, in millionths of the balance unit, where known.',
    ['upstream', 'model'],
  ),
  mediaCharged: counter(
    'gateway_media_charged_micros_total',
    'What was charged for tasks whose cost is known, in millionths of the balance unit.',
    ['upstream', 'model'],
  ),
  mediaPriceBelowCost: warningGauge(
    'gateway_media_price_below_cost',
    '1 while a price in force of a media model is below what an upstream is configured to cost; else 0.',
    ['upstream', 'model'],
  ),
  priceBelowCost: warningGauge(
    'gateway_price_below_cost',
    '1 while a price in force of a model is below what an upstream is configured to cost, in some band or tier; else 0.',
    ['model', 'upstream'],
  ),
  soldAtALoss: warningGauge(
    'gateway_sold_at_a_loss',
    '1 while a model earned less at an upstream within 24 hours than it cost there, over at least 20 requests of known cost; else 0.',
    ['model', 'upstream'],
  ),
  mediaOpen: sharedGauge(
    'gateway_media_orders_open',
    'Tasks that are being submitted to or processed by media upstreams, by state.',
    ['upstream', 'state'],
  ),

  tasksFinished: counter('gateway_tasks_finished_total', 'Tasks that reached their end; `error` is empty on success.', [
    'medium',
    'model',
    'status',
    'error',
  ]),
  taskDuration: histogram(
    'gateway_task_duration_seconds',
    'Time from the acceptance of a task to its end.',
    ['medium', 'status'],
    TASK_BUCKETS,
  ),
  resultLatency: histogram(
    'gateway_media_result_latency_seconds',
    'Time from when the gateway learns that the upstream is done until clients see the files.',
    ['medium'],
    TASK_BUCKETS,
  ),

  // Names of before, written for one release beside those that took their place.
  mediaUnavailableBefore: warningGauge(
    'gateway_media_model_closed',
    'The old name of gateway_media_model_unavailable.',
    ['model'],
  ),
  mediaQuotaExceededBefore: counter(
    'gateway_media_allowance_spent_total',
    'The old name of gateway_media_quota_exceeded_total.',
    ['upstream'],
  ),
  resultLatencyBefore: histogram(
    'gateway_upstream_done_to_visible_seconds',
    'The old name of gateway_media_result_latency_seconds.',
    ['medium'],
    TASK_BUCKETS,
  ),

  tasksOpen: sharedGauge('gateway_tasks_open', 'Tasks that are not final, by state.', ['medium', 'state']),
  tasksDue: sharedGauge('gateway_tasks_due', 'Tasks that are due for their next step and that no worker has claimed.', [
    'medium',
  ]),
  tasksDueOldest: sharedGauge('gateway_tasks_due_oldest_seconds', 'How long the longest waiting due task has waited.', [
    'medium',
  ]),
  pollsDue: sharedGauge('gateway_polls_due', 'Vendor polls that are due.', []),
  pollsDueOldest: sharedGauge('gateway_polls_due_oldest_seconds', 'How late the latest vendor poll is.', []),
  pausedWork: sharedGauge(
    'gateway_paused_work',
    'Accounts, tasks and holds that a periodic job skips for now, because it failed for them.',
    ['job'],
  ),
  usageDaysOpen: sharedGauge('gateway_usage_days_open', 'Past days that are not yet summed up over all accounts.', []),
  orphans: sharedGauge(
    'gateway_upstream_orphans',
    'Orders at vendors that belong to no task and that no operator has resolved.',
    [],
  ),

  vendorCallbacks: counter(
    'gateway_vendor_callbacks_total',
    'Callbacks of vendors by outcome: heard, repeated within a second, late, sent to an unknown address (unknown), or without the signature of the vendor (forged).',
    ['outcome'],
  ),
  stepsAbandoned: counter(
    'gateway_steps_abandoned_total',
    'Steps of tasks that exceeded their time limit and were abandoned.',
    ['step'],
  ),
  tasksUnannounced: counter(
    'gateway_tasks_unannounced_total',
    'Tasks that ended without their webhooks, because those could not be written.',
    ['medium'],
  ),
  tasksParked: counter('gateway_tasks_parked_total', 'Tasks that were given up and need an operator.', ['medium']),

  queueJobs: sharedGauge('gateway_queue_jobs', 'Wake-up jobs in the queue, by state.', ['queue', 'state']),
  queueOldest: sharedGauge('gateway_queue_oldest_seconds', 'Age of the oldest waiting wake-up job.', ['queue']),

  webhooksPending: sharedGauge('gateway_webhook_deliveries_pending', 'Webhook deliveries that are not settled.', []),
  webhookLag: sharedGauge('gateway_webhook_lag_seconds', 'How late the latest due webhook delivery is.', []),

  money: sharedGauge('gateway_money_micros', 'Sums over all accounts, by book.', ['book']),
  accountsLowBalance: sharedGauge(
    'gateway_accounts_low_balance',
    'Accounts whose balance lasts less than a day at the pace of the last seven days, without unlimited accounts.',
    [],
  ),
  moneyMismatch: sharedGauge(
    'gateway_money_mismatch_micros',
    'Difference between two ways of counting the same money; anything but 0 is wrong.',
    ['check'],
  ),

  poolConnections: gauge('gateway_database_pool_connections', 'Database connections of this process, by state.', [
    'state',
  ]),
  poolWaiting: gauge('gateway_database_pool_waiting', 'Statements that wait for a database connection.', []),
  poolLimit: gauge('gateway_database_pool_limit', 'The most database connections this process opens.', []),

  apiProcesses: sharedGauge(
    'gateway_api_processes',
    'API processes that serve requests, where API_PROCESSES asks for several; else 0.',
    [],
  ),
  apiProcessesLost: counter(
    'gateway_api_processes_lost_total',
    'API processes that ended without being told to, and were started again.',
    [],
  ),
  ready: sharedGauge('gateway_ready', '1 when the part of the process is fit for work, 0 when not.', ['part']),
  readiness: sharedGauge('gateway_readiness', '1 for the status that /readyz gives: ready, degraded or not_ready.', [
    'status',
  ]),
  scrapeFailures: counter('gateway_metrics_source_failures_total', 'Sources of metrics that did not answer in time.', [
    'source',
  ]),
} as const;
