import {
  type CallPlan,
  type CannotMake,
  type JsonObject,
  MediaFailure,
  type MediaOrder,
  type MediaUpstream,
  type Operation,
  type OperationState,
  type PlannedOrder,
  type ProviderOutput,
  type Started,
  type UpstreamTraits,
  type VendorCall,
  type Verified,
} from '#contracts';
import { observeUpstream, type SafeFetcher } from '#platform';
import type { ServedModel } from '../served-models.js';
import { AuthorizedHttp } from './authorized-http.js';
import { asFailure, failedStart, wordsOfUnread } from './call-failures.js';
import { keyCredentials } from './credentials.js';
import type { InlineFiles } from './inline-files.js';
import { isDone, NotMakeable, type ReadWork, type VendorReply, type VendorRequest, type Verb } from './media-codec.js';
import { withCallback } from './callback-field.js';
import { fetchableStart, fetchableState } from './fetchable-outputs.js';
import { takenNow, unlessFresh } from './fresh-work.js';
import { addressAtPlan, handedFiles } from './reference-forms.js';
import { badEndOf } from './state-words.js';
import { UpstreamWarnings } from './upstream-warnings.js';
import { unverified, verifiedBy } from './verification.js';
import { VendorFiles } from './vendor-files.js';
import { type Noting, VendorExchanges, type VendorExchangesParts } from './vendor-exchanges.js';
import { type VendorHttp } from './vendor-http.js';

const VERIFY_TIMEOUT_MS = 15_000;

/** What makes an upstream of a protocol. */
export interface HttpMediaUpstreamParts extends VendorExchangesParts {
  readonly id: string;
  readonly vendorAccount: string;
  readonly http: VendorHttp;
  /** Reaches what belongs to a call besides the vendor's API: tokens, files. Follows no redirect. */
  readonly fetcher: SafeFetcher;
  readonly models: ReadonlyMap<string, ServedModel>;
  /** Whether a file that the caller sent inline can be given to the vendor as a link. */
  readonly canLink: boolean;
}

/** A vendor behind HTTP, in one of the protocols. Keeps no state but connections, so any process can continue an operation. */
export class HttpMediaUpstream implements MediaUpstream {
  readonly cancel?: (operation: Operation, call: VendorCall) => Promise<'cancelled' | 'too_late'>;
  readonly find?: (call: VendorCall) => Promise<Started | null>;
  readonly open: MediaUpstream['open'];
  readonly readCallback?: MediaUpstream['readCallback'];
  private readonly exchanges: VendorExchanges;
  private readonly files: VendorFiles;
  private readonly warnings: UpstreamWarnings;

  constructor(private readonly parts: HttpMediaUpstreamParts) {
    const { codec, key, fetcher, http } = parts;
    const credentials = codec.credentials?.(key, { fetcher }) ?? keyCredentials(key, codec);
    this.files = new VendorFiles(codec, credentials, http.origin);
    this.open = this.files.open;
    this.warnings = new UpstreamWarnings(parts.id);
    this.exchanges = new VendorExchanges(parts, new AuthorizedHttp(http, credentials), this.warnings);
    if (parts.codec.writeCancel)
      this.cancel = (operation, call) => this.observed('cancel', () => this.stop(operation, call));
    if (codec.readCallback) this.readCallback = (request) => codec.readCallback?.(request, key) ?? 'forged';
    if (parts.codec.writeFind) this.find = (call) => this.observed('find', () => this.search(call));
  }

  get id(): string {
    return this.parts.id;
  }

  get vendorAccount(): string {
    return this.parts.vendorAccount;
  }

  get protocol(): string {
    return this.parts.codec.protocol;
  }

  get traits(): UpstreamTraits {
    return this.parts.codec.traits;
  }

  plan(order: PlannedOrder): CallPlan | CannotMake {
    const { codec, id, models, canLink, costs } = this.parts;
    const model = models.get(order.model);
    if (model === undefined) return { cannot: `${order.model} is not made here.`, param: 'model' };
    const ticket = { upstream: id, model: model.name, ...codec.ticket?.(order) };
    try {
      const form = (reference: PlannedOrder['references'][number]) => codec.referenceForm(reference, model.references);
      codec.writeStart(order, ticket, addressAtPlan(order.references, form, canLink));
    } catch (error) {
      if (error instanceof NotMakeable)
        return { cannot: error.message, ...(error.param !== undefined && { param: error.param }) };
      throw error;
    }
    const cost = costs.ofOrder(order);
    return { ticket, slots: codec.slots?.(order) ?? 1, ...(cost && { cost }) };
  }

  async start(order: MediaOrder, call: VendorCall): Promise<Started> {
    const { codec, models } = this.parts;
    const { traits } = codec;
    call.signal.throwIfAborted();
    const way = models.get(order.model)?.references;
    const file = await handedFiles(order, call, (reference) => codec.referenceForm(reference, way));
    const request = withCallback(
      this.written(() => codec.writeStart(order, call.ticket, file)),
      codec,
      call,
    );
    return this.observed('start', async () => {
      const limits = { timeoutMs: traits.startTimeoutMs, fresh: traits.repeatStart !== 'idempotent' };
      const reply = await this.exchanges.send(request, call, limits).catch((error: unknown) => {
        throw failedStart(error, call.signal);
      });
      if (!isOk(reply)) throw this.exchanges.refused(reply, 'start', call);
      const started = this.exchanges.read(reply, (body) => codec.readStart(body, order), call);
      // Some say in a reply of status 200 why they took nothing.
      if (started === undefined) throw this.exchanges.refused(reply, 'start', call);
      const fetchable = fetchableStart(started, { codec, origin: this.parts.http.origin });
      // A repeated order is answered with the same operation to its last letter.
      return traits.repeatStart === 'idempotent' ? fetchable : takenNow(fetchable);
    });
  }

  async check(operation: Operation, call: VendorCall): Promise<OperationState> {
    const { codec } = this.parts;
    return this.observed('check', async () => {
      try {
        const request = codec.writeCheck?.(operation);
        if (!request) throw new MediaFailure('refused', 'work_lost');
        const read: ReadWork = (body) => codec.readCheck?.(body, operation);
        const state = await this.work(request, 'check', read, call, this.files.inlineFiles(call.spool, operation));
        return unlessFresh(state, operation);
      } catch (error) {
        // The vendor does not know the work any more, or says that it is gone permanently.
        if (!(error instanceof MediaFailure) || error.kind !== 'refused') throw error;
        return unlessFresh({ state: 'failed', code: error.code, publicReason: error.publicReason }, operation);
      }
    });
  }

  mayKeep(operation: Operation): number {
    const { traits, inlineFiles } = this.parts.codec;
    return traits.checksBring === undefined ? 0 : (inlineFiles?.count(operation) ?? 0);
  }

  nameOf(operation: Operation): string | undefined {
    return this.parts.codec.nameOf?.(operation);
  }

  async refresh(operation: Operation, call: VendorCall): Promise<readonly ProviderOutput[]> {
    const state = await this.check(operation, call);
    if (state.state === 'succeeded') return state.outputs;
    throw new MediaFailure('refused', 'work_lost');
  }

  async verify(call: Noting): Promise<Verified> {
    const { codec } = this.parts;
    try {
      const limits = { timeoutMs: VERIFY_TIMEOUT_MS, fresh: false };
      const reply = await this.exchanges.send(codec.verification, call, limits);
      return verifiedBy(codec, reply, () => this.exchanges.refused(reply, 'verify', call));
    } catch (error) {
      return unverified(asFailure(error, call.signal));
    }
  }

  preview(order: PlannedOrder): JsonObject {
    const plan = this.plan(order);
    if ('cannot' in plan) return { ...plan };
    const source = addressAtPlan(order.references, () => 'source', true);
    const { method, path, headers = {}, body = null } = this.parts.codec.writeStart(order, plan.ticket, source);
    const authorization = this.parts.codec.authorization('********');
    const { http } = this.parts;
    return { method, host: http.host, path: http.pathOf(path), headers: { ...headers, ...authorization }, body };
  }

  close(): Promise<void> {
    return this.parts.http.close();
  }

  /** The state of accepted work, by one poll or by two. @throws MediaFailure */
  private async work(
    request: VendorRequest,
    verb: Verb,
    read: ReadWork,
    call: VendorCall,
    files?: InlineFiles,
  ): Promise<OperationState> {
    const reply = await this.asked(request, verb, call, files);
    const state = this.exchanges.read(reply, read, call);
    if (state === undefined) throw this.exchanges.unread(reply, verb, call);
    if (state.state === 'elsewhere') return this.work(state.request, 'result', state.read, call);
    if (state.state !== 'strange')
      return fetchableState(state, { codec: this.parts.codec, origin: this.parts.http.origin });
    this.warnings.unknownState(state.word);
    return badEndOf(state.word) ?? { state: 'pending' };
  }

  private async stop(operation: Operation, call: VendorCall): Promise<'cancelled' | 'too_late'> {
    const { codec } = this.parts;
    const request = codec.writeCancel?.(operation);
    if (!request) return 'too_late';
    if (codec.cancelForgets && (await this.check(operation, call)).state !== 'pending') return 'too_late';
    const limits = { timeoutMs: codec.traits.checkTimeoutMs, fresh: false };
    const reply = await this.exchanges.send(request, call, limits).catch((error: unknown) => {
      throw asFailure(error, call.signal);
    });
    const outcome = codec.readCancel?.(reply);
    if (outcome) return outcome;
    throw this.exchanges.refused(reply, 'cancel', call);
  }

  private async search(call: VendorCall): Promise<Started | null> {
    const { codec } = this.parts;
    const request = codec.writeFind?.(call.ticket);
    if (!request) return null;
    const reply = await this.asked(request, 'find', call);
    if (!isOk(reply)) return null;
    const found = this.exchanges.read(reply, (body) => codec.readFind?.(body, call.ticket), call);
    if (found === undefined) throw new MediaFailure('unavailable', 'away', { vendor: wordsOfUnread(reply) });
    return found;
  }

  /** The reply to a question, which may be put again. @throws MediaFailure */
  private async asked(request: VendorRequest, verb: Verb, call: VendorCall, files?: InlineFiles): Promise<VendorReply> {
    const { codec } = this.parts;
    const limits = { timeoutMs: codec.traits.checkTimeoutMs, fresh: false, files };
    const reply = await this.exchanges.send(request, call, limits).catch((error: unknown) => {
      throw asFailure(error, call.signal);
    });
    const isKnown = isOk(reply) || (verb === 'find' && codec.isNotThere?.(reply) === true);
    if (!isKnown) throw this.exchanges.refused(reply, verb, call);
    return reply;
  }

  private written(write: () => VendorRequest): VendorRequest {
    try {
      return write();
    } catch (error) {
      if (!(error instanceof NotMakeable)) throw error;
      const details = { cause: error, ...(error.param !== undefined && { param: error.param }) };
      throw new MediaFailure('unsupported', 'not_possible', details);
    }
  }

  private observed<Result>(verb: 'start' | 'check' | 'find' | 'cancel', work: () => Promise<Result>): Promise<Result> {
    return observeUpstream(this.id, verb, work);
  }
}

const isOk = ({ status }: VendorReply): boolean => isDone(status);
