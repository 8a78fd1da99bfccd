import { Inject, Injectable } from '@nestjs/common';
import {
  type FieldError,
  fileUrls,
  formatMicros,
  GatewayError,
  type JsonObject,
  type ModelFamily,
  type ModelRequest,
  readModelRequest,
  type SubmissionPath,
} from '#contracts';
import { checkInlineReferences, isDataUri, type MediaStore } from '#media';
import { eventLogger, FetchRefused, SafeFetcher, timeOrderedId } from '#platform';
import { MEDIA_STORE } from '#runtime';
import type { Caller } from '../../accounts/caller.js';
import type { Attribution } from '../../billing/usage/attribution.js';
import { PriceBook, type Quote } from '../../billing/prices/price-book.js';
import { MediaRouter } from '../../upstreams/media-upstreams.js';
import { addLogFields } from '../../observability/request-facts.js';
import { ModelsOnSale } from '../../text/models-on-sale.js';
import { withoutLargeParameters } from '../large-parameters.js';
import { catalogFamily, plannedOrderOf } from './planned-order.js';
import { TaskWriter } from './task-writer.js';
import { takeWebhookUrl } from './webhook-url.js';

/**
 * Refuses URLs of files that no worker would fetch: literal addresses that are not public, in any spelling, names of local
 * networks, credentials and ports. Nothing is resolved or called: what a name leads to is judged by the worker.
 * Links to files of our own are read from the store, so that they may lead anywhere.
 *
 * @throws GatewayError `invalid_parameter` that lists every field.
 */
function checkFileUrls(
  family: ModelFamily,
  parameters: JsonObject,
  fetcher: SafeFetcher,
  store: Pick<MediaStore, 'keyOf'>,
): void {
  const [first, ...others] = fileUrls(family.fields, parameters).flatMap(({ param, url }): FieldError[] => {
    const problem = store.keyOf(url) === undefined ? problemOf(url, fetcher) : undefined;
    if (problem === undefined) return [];
    return [{ param, code: 'invalid_parameter', message: `${param} cannot be fetched: ${problem}.` }];
  });
  if (first) throw GatewayError.fromFields([first, ...others]);
}

function problemOf(url: string, fetcher: SafeFetcher): string | undefined {
  try {
    fetcher.checkLater(url);
    return undefined;
  } catch (error) {
    if (error instanceof FetchRefused) return error.message;
    throw error;
  }
}

const submitted = eventLogger('tasks', 'task.submitted');

/** What a caller gets back for an accepted request. */
export interface AcceptedTask {
  readonly taskId: string;
  readonly notices: readonly string[];
  /** True when no real model makes it. */
  readonly isMadeBySandbox: boolean;
}

/** What comes with a submission besides its body. */
export interface SubmissionContext {
  readonly requestId: string;
  /** The id to give the task, reserved by a request that may be repeated. */
  readonly taskId?: string | undefined;
  /** The header `Idempotency-Key`. */
  readonly idempotencyKey?: string | undefined;
  /** The header `X-Webhook-Url`. */
  readonly webhookHeader?: string | undefined;
  readonly attribution?: Attribution | undefined;
}

export interface PricedRequest {
  readonly request: ModelRequest;
  readonly quote: Quote;
}

/** Takes a request from its raw body to a task with its hold; refusals come before money moves. */
@Injectable()
export class SubmissionService {
  constructor(
    private readonly prices: PriceBook,
    private readonly tasks: TaskWriter,
    private readonly fetcher: SafeFetcher,
    @Inject(ModelsOnSale) private readonly onSale: Pick<ModelsOnSale, 'expectMaker' | 'isMadeBySandbox'>,
    @Inject(MediaRouter) private readonly router: Pick<MediaRouter, 'expectMaker'>,
    @Inject(MEDIA_STORE) private readonly store: Pick<MediaStore, 'keyOf'>,
  ) {}

  /**
   * Checks, prices, holds and writes.
   *
   * @param path which medium is ordered.
   * @param sent the raw body.
   * @throws GatewayError 400, 402, 403, 404, or 409 when a repeat took over; nothing was written and nothing is charged.
   */
  async submit(
    path: SubmissionPath,
    caller: Caller,
    sent: unknown,
    { requestId, taskId: reservedTaskId, idempotencyKey, webhookHeader, attribution }: SubmissionContext,
  ): Promise<AcceptedTask> {
    const { webhookUrl, body } = takeWebhookUrl(this.fetcher, sent, webhookHeader);
    const { request, quote } = await this.price(path, caller, body);
    const { model, medium, mode, parameters, notices } = request;
    const apart = withoutLargeParameters(parameters);
    const family = catalogFamily(model);
    const taskId = reservedTaskId ?? timeOrderedId('task');
    await this.tasks.write({
      id: taskId,
      accountId: caller.accountId,
      apiKeyId: caller.apiKeyId,
      requestId,
      idempotencyKey,
      medium,
      path,
      family: family.id,
      model,
      mode,
      parameters: apart.parameters,
      largeParameters: apart.largeParameters,
      notices,
      billing: family.billing(parameters),
      priceId: quote.ruleId === quote.priceId ? null : quote.priceId,
      priceRuleId: quote.ruleId,
      holdMicros: quote.holdMicros,
      priority: caller.priority,
      deadlineSeconds: family.deadlineSeconds,
      webhookUrl,
      attribution,
    });
    const hold = formatMicros(quote.holdMicros);
    addLogFields(requestId, { taskId, hold });
    submitted({ taskId, requestId, accountId: caller.accountId, keyId: caller.apiKeyId, model, hold });
    return { taskId, notices, isMadeBySandbox: this.onSale.isMadeBySandbox(model) };
  }

  /**
   * Checks and prices a request without running it.
   *
   * @throws GatewayError 400, 403 `model_not_allowed`, 404 `model_not_available` or `model_not_priced`.
   */
  async price(path: SubmissionPath, caller: Caller, body: unknown): Promise<PricedRequest> {
    const request = readModelRequest(path, body);
    if (caller.allowedModels.length > 0 && !caller.allowedModels.includes(request.model)) {
      throw new GatewayError('model_not_allowed', `This API key may not use the model "${request.model}".`, {
        param: 'model',
      });
    }
    this.onSale.expectMaker(request.model);
    const family = catalogFamily(request.model);
    checkFileUrls(family, request.parameters, this.fetcher, this.store);
    const references = family.references(request.parameters);
    this.router.expectMaker(plannedOrderOf('', family, request, references), caller.accountId);
    // What lies behind a URL is judged by the worker, before the vendor is called.
    const inline = references.filter(({ source }) => isDataUri(source));
    if (inline.length > 0) await checkInlineReferences(inline);
    return {
      request,
      quote: await this.prices.quote(request.model, family.billing(request.parameters), caller.priceList),
    };
  }
}
