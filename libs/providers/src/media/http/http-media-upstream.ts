import { Readable } from 'node:stream';
import {
  type CallPlan,
  type CannotMake,
  CONTENT_TYPES,
  failedBecause,
  isJsonObject,
  type JsonObject,
  type MeasuredReference,
  isParsableUrl,
  MEDIA_REASONS,
  MediaFailure,
  type MediaOrder,
  type MediaUpstream,
  type ModelTrait,
  type Operation,
  type OperationState,
  type PlannedOrder,
  type UpstreamOutput,
  type ResultLink,
  type ResultSpool,
  type Started,
  type UpstreamTraits,
  type VendorCall,
  type Verified,
} from '#contracts';
import { observeUpstream, type SafeFetcher } from '#platform';
import { accessFingerprint } from '../../routed-entry.js';
import type { ServedModel } from '../media-upstream-entry.js';
import {
  type HeldTrait,
  MEDIA_TRAITS,
  mediaTraitsOf,
  refuseBeyond,
  type TraitSettings,
  traitsInWords,
} from '../traits/media-traits.js';
import { AuthorizedHttp } from './authorized-http.js';
import { asFailure, failedStart, refusalsIn, wordsOfUnread } from './call-failures.js';
import type { InlineFiles } from './inline-files.js';
import {
  type Credentials,
  type FileAddress,
  isDone,
  keyCredentials,
  type MediaCodec,
  NotMakeable,
  type PlannedReference,
  type ReadWork,
  type ReferenceForm,
  type VendorReply,
  type VendorRequest,
  type Verb,
} from './media-codec.js';
import { badEndOf, notableSkewMs } from './failure-rules.js';
import { type Noting, UpstreamWarnings, VendorExchanges, type VendorExchangesParts } from './vendor-exchanges.js';
import type { VendorHttp } from './vendor-http.js';

/**
 * What the reply to the free call says of the credentials. A reply of status 200 proves nothing when the vendor's own table of
 * errors finds the key, the balance or the rate refused in it, or when it holds an error of any other kind.
 *
 * @param refused what the reply would be as a refusal.
 */
function verifiedBy(codec: MediaCodec, reply: VendorReply, refused: () => MediaFailure): Verified {
  const read = codec.readVerification?.(reply);
  if (read?.ok === false) return read;
  if (!read && !isDone(reply.status)) return unverified(refused());
  if (!isJsonObject(reply.body)) return { ok: false, problem: 'not_this_protocol', vendor: wordsOfUnread(reply) };
  const skewMs = notableSkewMs(reply);
  const note = codec.readAccountNote?.(reply);
  const proof: Verified = {
    ok: true,
    ...(skewMs !== undefined && { clockSkewMs: skewMs }),
    ...(note !== undefined && { note }),
  };
  return read ? proof : (refusedInside(reply.body, refused()) ?? proof);
}

function refusedInside(body: JsonObject, failure: MediaFailure): Verified | undefined {
  const { kind, vendor } = failure;
  if (kind === 'unfit' || kind === 'busy') return unverified(failure);
  return holdsError(body) ? { ok: false, problem: 'not_this_protocol', vendor } : undefined;
}

/** The words in which services of every kind tell an error. */
const holdsError = ({ error, detail, reason }: JsonObject): boolean =>
  [error, detail, reason].some((word) => isJsonObject(word) || (typeof word === 'string' && word !== ''));

/** What a failure of the free call says of the credentials. */
function unverified({ kind, vendor, reason }: MediaFailure): Verified {
  const { status = 0 } = vendor;
  if (kind === 'busy') return { ok: false, problem: 'busy', vendor };
  if (kind !== 'unfit' || isElsewhere(status))
    return { ok: false, problem: isAnswer(status) ? 'not_this_protocol' : 'away', vendor };
  if (reason === 'not_paid') return { ok: false, problem: 'no_balance', vendor };
  return { ok: false, problem: status === 401 || reason === 'wrong_key' ? 'wrong_key' : 'not_opened', vendor };
}

/** Redirected, or not found: the free call asks for what every vendor of the protocol has. */
const isElsewhere = (status: number): boolean => (status >= 300 && status < 400) || status === 404 || status === 405;

const TIMED_OUT: ReadonlySet<number> = new Set([408, 425]);

/** Something was there and did not know the call: another service, or another path of the right one. */
const isAnswer = (status: number): boolean => status >= 300 && status < 500 && !TIMED_OUT.has(status);

/** A file that was not ordered is read to its end, so that the rest of the reply is read, and is not kept. */
async function dropped(bytes: Readable): Promise<string> {
  for await (const _chunk of bytes) continue;
  return '';
}

/** The same bytes; undefined when there are none: a withheld file may stand in a reply as an empty text. */
async function unlessEmpty(bytes: Readable): Promise<Readable | undefined> {
  const chunks = bytes[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const first = await chunks.next();
  if (first.done === true) return undefined;
  const all = async function* (): AsyncGenerator<Buffer> {
    yield first.value;
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
  };
  return Readable.from(all(), { objectMode: false });
}

/** Finished files that are not everybody's to fetch: in replies, or behind the vendor's credentials. */
class VendorFiles {
  /** Present for protocols whose outputs need the credentials. */
  readonly open?: (output: UpstreamOutput, call: Pick<VendorCall, 'signal'>) => Promise<ResultLink>;
  private keeping: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly codec: MediaCodec,
    private readonly credentials: Credentials,
    /** Of the vendor's API. */
    private readonly origin: string,
  ) {
    if (codec.fileAddress) this.open = (output, { signal }) => this.linkOf(output, signal);
  }

  /** Handles the files in the reply to one check: one file at a time, whichever check it belongs to. */
  inlineFiles(spool: ResultSpool, operation: Operation): InlineFiles | undefined {
    const { inlineFiles } = this.codec;
    if (inlineFiles === undefined) return undefined;
    const ordered = inlineFiles.count(operation);
    let ordinal = 0;
    return {
      field: inlineFiles.field,
      keep: async (sent) => {
        const bytes = await unlessEmpty(sent);
        if (bytes === undefined) return '';
        const place = ordinal;
        ordinal += 1;
        if (place >= ordered) return dropped(bytes);
        const kept = this.keeping.then(() => spool.keep(place, bytes));
        this.keeping = kept.catch(() => undefined);
        return kept;
      },
    };
  }

  /** Whatever address a reply names, the credentials are for those that the protocol keeps files at. */
  private async linkOf({ url }: UpstreamOutput, signal: AbortSignal): Promise<ResultLink> {
    const address = this.codec.fileAddress?.(url, this.origin);
    return address === undefined ? { url } : { url: address, credentials: await this.credentials.headers(signal) };
  }
}

type FormOf = (reference: PlannedReference) => ReferenceForm;

/** What stands for the files of an order that is only planned: the caller's own sources. */
function addressAtPlan(references: readonly PlannedReference[], formOf: FormOf, canLink: boolean): FileAddress {
  const sources = new Map(references.map((reference) => [reference.param, reference]));
  return (param) => {
    const reference = known(sources, param);
    const inline = reference.source.startsWith('data:');
    if (inline && formOf(reference) === 'url' && !canLink)
      throw new NotMakeable(param, `${param} must be a public http(s) URL for this model.`);
    return reference.source;
  };
}

/**
 * The files of an order, each in the form that its vendor takes; all are there before anything is sent.
 *
 * @throws MediaFailure `refused`: one cannot be read any more, which says nothing about the vendor.
 */
async function handedFiles(order: MediaOrder, { files, signal }: VendorCall, formOf: FormOf): Promise<FileAddress> {
  const handed = new Map<string, string>();
  for (const reference of order.references) {
    const form = formOf(reference);
    const found = files.get(reference.param);
    const file = await inForm(reference, found, form).catch((error: unknown) => {
      throw signal.aborted || error instanceof MediaFailure ? error : unreadable(reference, error);
    });
    handed.set(reference.param, file);
  }
  return (param) => known(handed, param);
}

const unreadable = ({ param: reference }: MeasuredReference, cause: unknown): MediaFailure =>
  new MediaFailure('refused', 'reference_unusable', { reference, cause });

async function inForm(
  reference: MeasuredReference,
  file: ReturnType<VendorCall['files']['get']>,
  form: ReferenceForm,
): Promise<string> {
  if (form === 'source') return reference.source;
  const isLink = !reference.source.startsWith('data:') && file.isOursAlone !== true;
  if (form === 'url' || (form === 'sent' && isLink)) return file.url();
  const digits = (await file.bytes()).toString('base64');
  return form === 'base64' ? digits : `data:${CONTENT_TYPES[reference.format]};base64,${digits}`;
}

function known<Value>(values: ReadonlyMap<string, Value>, param: string): Value {
  const value = values.get(param);
  if (value === undefined) throw new RangeError(`the order refers to no file at ${param}`);
  return value;
}

/** For how long a vendor may not know yet what it has just taken, in milliseconds: its replicas learn of it one after the other. */
const FRESH_MS = 60_000;

const isFresh = ({ takenAtMs }: Operation): boolean =>
  typeof takenAtMs === 'number' && Date.now() - takenAtMs < FRESH_MS;

const isLost = (state: OperationState): boolean =>
  state.state === 'failed' && state.publicReason === MEDIA_REASONS.work_lost.publicReason;

/** Longer than any signed link. */
const MAX_URL = 8_192;

interface FilePlaces {
  readonly codec: MediaCodec;
  /** Of the vendor's API. */
  readonly origin: string;
}

/** Whether a file can be fetched at all: by a link, from where the vendor keeps it behind its key, or from our own spool. */
function isFetchable({ url }: UpstreamOutput, { codec, origin }: FilePlaces): boolean {
  if (url.length > MAX_URL) return false;
  if (url.startsWith('kept:')) return codec.inlineFiles !== undefined && URL.canParse(url);
  return (/^https?:/i.test(url) && isParsableUrl(url)) || codec.fileAddress?.(url, origin) !== undefined;
}

/** The files that can be fetched, each without values that are not a length or a time. */
const fetchableOutputs = (outputs: readonly UpstreamOutput[], places: FilePlaces): UpstreamOutput[] =>
  outputs
    .filter((output) => isFetchable(output, places))
    .map(({ seconds = 0, expiresAtMs = 0, ...output }) => ({
      ...output,
      ...(Number.isFinite(seconds) && seconds > 0 && { seconds }),
      ...(Number.isSafeInteger(expiresAtMs) && expiresAtMs > 0 && { expiresAtMs }),
    }));

/** The start without files that cannot be fetched. @throws MediaFailure `refused`: none is left. */
function fetchableStart(started: Started, places: FilePlaces): Started {
  if (started.kind === 'operation') return started;
  const outputs = fetchableOutputs(started.outputs, places);
  if (outputs.length === 0) throw new MediaFailure('refused', 'nothing_delivered');
  return { ...started, outputs };
}

/** The state without files that cannot be fetched; with none, the work has failed. */
function fetchableState<State extends OperationState>(state: State, places: FilePlaces): State | OperationState {
  if (state.state !== 'succeeded') return state;
  const outputs = fetchableOutputs(state.outputs, places);
  return outputs.length > 0 ? { ...state, outputs } : failedBecause('nothing_delivered');
}

/** An order with the address that its vendor may call. */
function withCallback(
  request: VendorRequest,
  { callback }: MediaCodec,
  { callbackUrl: url }: VendorCall,
): VendorRequest {
  if (callback === undefined || url === undefined) return request;
  if ('field' in callback) return { ...request, body: { ...request.body, [callback.field]: url } };
  const separator = request.path.includes('?') ? '&' : '?';
  return { ...request, path: `${request.path}${separator}${callback.query}=${encodeURIComponent(url)}` };
}

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
  /** What its entry says of its models, in place of the table that is shipped. */
  readonly traits?: TraitSettings | undefined;
  /** Of its address, where traits differ by it. */
  readonly region?: string | undefined;
}

/** A vendor behind HTTP, in one of the protocols. Keeps no state but connections, so any process can continue an operation. */
export class HttpMediaUpstream implements MediaUpstream {
  readonly cancel?: (operation: Operation, call: VendorCall) => Promise<'cancelled' | 'too_late'>;
  readonly find?: (call: VendorCall) => Promise<Started | null>;
  readonly open: MediaUpstream['open'];
  readonly readCallback?: MediaUpstream['readCallback'];
  readonly access: string;
  private readonly exchanges: VendorExchanges;
  private readonly files: VendorFiles;
  private readonly warnings: UpstreamWarnings;
  /** By model, what it allows beyond the catalogue. */
  private readonly heldTraits: ReadonlyMap<string, readonly HeldTrait[]>;
  /** The account has refused the usual form of an order. */
  private isOtherwise = false;

  constructor(private readonly parts: HttpMediaUpstreamParts) {
    const { codec, key, fetcher, http, models, traits, region } = parts;
    const { protocol } = codec;
    this.heldTraits = new Map(
      [...models].map(([model, { name }]) => [
        model,
        mediaTraitsOf(MEDIA_TRAITS, { protocol, model, name, region }, traits),
      ]),
    );
    const credentials = codec.credentials?.(key, { fetcher }) ?? keyCredentials(key, codec);
    this.files = new VendorFiles(codec, credentials, http.origin);
    this.open = this.files.open;
    this.warnings = new UpstreamWarnings(parts.id);
    this.access = accessFingerprint(key, `${protocol} ${http.origin}`);
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
    if (model === undefined) return { cannot: `${order.model} is not offered here.`, param: 'model' };
    const ticket = { upstream: id, model: model.name, access: this.access, ...codec.ticket?.(order) };
    try {
      const form = (reference: PlannedOrder['references'][number]) => codec.referenceForm(reference, model.references);
      refuseBeyond(this.heldTraits.get(order.model) ?? [], order);
      codec.writeStart(order, ticket, addressAtPlan(order.references, form, canLink));
    } catch (error) {
      if (error instanceof NotMakeable)
        return { cannot: error.message, ...(error.param !== undefined && { param: error.param }) };
      throw error;
    }
    const cost = costs.ofOrder(order);
    return { ticket, slots: codec.slots?.(order) ?? 1, ...(cost && { cost }) };
  }

  traitsOf(model: string): readonly ModelTrait[] {
    return traitsInWords(this.heldTraits.get(model) ?? [], model);
  }

  async start(order: MediaOrder, call: VendorCall): Promise<Started> {
    const { codec, models } = this.parts;
    call.signal.throwIfAborted();
    const way = models.get(order.model)?.references;
    const file = await handedFiles(order, call, (reference) => codec.referenceForm(reference, way));
    const request = withCallback(
      this.written(() => codec.writeStart(order, call.ticket, file)),
      codec,
      call,
    );
    return this.observed('start', async () => {
      const reply = await this.ordered(request, order.output, call);
      if (!isOk(reply)) throw this.exchanges.refused(reply, 'start', call);
      const started = this.exchanges.read(reply, (body) => codec.readStart(body, order), call);
      // Some say in a reply of status 200 why they took nothing.
      if (started === undefined) throw this.exchanges.refused(reply, 'start', call);
      const fetchable = fetchableStart(started, { codec, origin: this.parts.http.origin });
      // A repeated order is answered with the same operation to its last letter.
      return this.taken(fetchable, this.traits.repeatStart === 'idempotent' ? {} : { takenAtMs: Date.now() });
    });
  }

  /** The start, with the access that it was taken under. */
  private taken(started: Started, facts: JsonObject = {}): Started {
    if (started.kind !== 'operation') return started;
    return { ...started, operation: { ...started.operation, access: this.access, ...facts } };
  }

  /** Once more in its other form where the refusal of the first says that the account needs it: then nothing was taken. */
  private async ordered(usual: VendorRequest, output: MediaOrder['output'], call: VendorCall): Promise<VendorReply> {
    const { traits, otherwise } = this.parts.codec;
    const files = traits.style === 'call' ? this.files.inlineFiles(call.spool, { count: output.count }) : undefined;
    const limits = { timeoutMs: traits.startTimeoutMs, fresh: traits.repeatStart !== 'idempotent', files };
    const isUsual = otherwise === undefined || !this.isOtherwise;
    const request = isUsual ? usual : otherwise.write(usual);
    const reply = await this.exchanges.send(request, call, limits).catch((error: unknown) => {
      throw failedStart(error, call.signal);
    });
    if (otherwise === undefined || !isUsual || isOk(reply)) return reply;
    if (!refusalsIn(reply).some((refusal) => otherwise.isNeeded(refusal))) return reply;
    this.isOtherwise = true;
    return this.ordered(usual, output, call);
  }

  async check(operation: Operation, call: VendorCall): Promise<OperationState> {
    const { codec } = this.parts;
    return this.observed('check', async () => {
      try {
        const request = codec.writeCheck?.(operation);
        if (!request) throw new MediaFailure('refused', 'work_lost');
        const read: ReadWork = (body) => codec.readCheck?.(body, operation);
        const state = await this.work(request, 'check', read, call, this.files.inlineFiles(call.spool, operation));
        return this.unlessUnknown(state, operation);
      } catch (error) {
        // The vendor does not know the work any more, or says that it is gone permanently.
        if (!(error instanceof MediaFailure) || error.kind !== 'refused') throw error;
        const { code, publicReason } = error;
        const isElsewhere = this.isElsewhere(operation);
        return this.unlessUnknown(
          isElsewhere ? failedBecause('work_lost') : { state: 'failed', code, publicReason },
          operation,
        );
      }
    });
  }

  /** The state, but that work is not lost because the vendor does not find what it has just taken, or what another may have. */
  private unlessUnknown(state: OperationState, operation: Operation): OperationState {
    if (!isLost(state)) return state;
    const isElsewhere = this.isElsewhere(operation);
    if (isElsewhere) this.warnings.workElsewhere();
    return isElsewhere || isFresh(operation) ? { state: 'pending' } : state;
  }

  /** It was taken under another key or by another server. */
  private isElsewhere({ access }: Operation): boolean {
    return access !== undefined && access !== this.access;
  }

  mayKeep(operation: Operation): number {
    const { traits, inlineFiles } = this.parts.codec;
    return traits.checksBring === undefined ? 0 : (inlineFiles?.count(operation) ?? 0);
  }

  nameOf(operation: Operation): string | undefined {
    return this.parts.codec.nameOf?.(operation);
  }

  async refresh(operation: Operation, call: VendorCall): Promise<readonly UpstreamOutput[]> {
    const state = await this.check(operation, call);
    if (state.state === 'succeeded') return state.outputs;
    if (this.isElsewhere(operation)) throw new MediaFailure('unavailable', 'away');
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
    return found && this.taken(found);
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
