import { isJsonObject, type JsonObject, MediaFailure, type VendorCall } from '#contracts';
import { logger } from '#platform';
import type { AuthorizedHttp } from './authorized-http.js';
import { refusedBy, withoutSecrets, wordsOfUnread } from './call-failures.js';
import { withoutEnvelope } from '../../http/envelopes.js';
import type { MediaCodec, VendorReply, VendorRequest, Verb } from './media-codec.js';
import type { ExchangeLimits } from './vendor-http.js';
import { notableSkewMs, requestIdOf, statedCost } from './failure-rules.js';
import type { VendorCosts } from '../vendor-costs.js';

/** One request and its reply, the key in neither. */
export interface Exchange {
  readonly request: VendorRequest;
  readonly reply: VendorReply;
}

/** The parts of a call that an exchange needs: what ends it, and where its facts are noted. */
export type Noting = Pick<VendorCall, 'signal' | 'note'>;

/** What exchanges with a vendor need to know about it. */
export interface VendorExchangesParts {
  readonly codec: MediaCodec;
  readonly key: string;
  readonly costs: VendorCosts;
  /** Sees every exchange, for records. */
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
}

/** Requests to one vendor and what is read of the replies, each noted on its call, with no secret in a failure. */
export class VendorExchanges {
  constructor(
    private readonly parts: VendorExchangesParts,
    private readonly line: AuthorizedHttp,
    private readonly warnings: UpstreamWarnings,
  ) {}

  async send(request: VendorRequest, call: Noting, limits: Omit<ExchangeLimits, 'signal'>): Promise<VendorReply> {
    const reply = await this.line.exchange(request, { signal: call.signal, ...limits });
    this.parts.onExchange?.({ request, reply });
    const requestId = requestIdOf(reply);
    const clockSkewMs = notableSkewMs(reply);
    call.note({
      status: reply.status,
      ...(requestId !== undefined && { requestId }),
      ...(clockSkewMs !== undefined && { clockSkewMs }),
    });
    if (clockSkewMs !== undefined) this.warnings.clockSkew(clockSkewMs);
    return reply;
  }

  /** A broken shape reads as nothing understood: what a vendor sends never ends a process. */
  read<Result>(reply: VendorReply, read: (body: JsonObject) => Result | undefined, call: Noting): Result | undefined {
    if (!isJsonObject(reply.body)) return undefined;
    const body = withoutEnvelope(reply.body, this.parts.codec.marks ?? []);
    try {
      this.noteCost(body, call);
      return read(body);
    } catch (error) {
      if (!(error instanceof MediaFailure)) return undefined;
      if (error.vendor.code !== undefined) call.note({ code: error.vendor.code });
      throw this.hidden(error);
    }
  }

  refused(reply: VendorReply, verb: Verb, call: Noting): MediaFailure {
    const failure = refusedBy(this.parts.codec, reply, verb);
    // Some take money for what they made and then withheld.
    if (isJsonObject(reply.body)) this.noteCost(reply.body, call);
    if (failure.vendor.code !== undefined) call.note({ code: failure.vendor.code });
    return this.hidden(failure);
  }

  /** Why a reply of status 200 to a poll says nothing about the work: only too many polls have a kind of their own. */
  unread(reply: VendorReply, verb: Verb, call: Noting): MediaFailure {
    const failure = this.refused(reply, verb, call);
    if (failure.kind === 'busy') return failure;
    return new MediaFailure('unavailable', 'away', { vendor: wordsOfUnread(reply) });
  }

  private noteCost(body: JsonObject, call: Noting): void {
    const cost = statedCost(body, this.parts.codec);
    if (cost) call.note({ cost: this.parts.costs.valued(cost) });
  }

  private hidden(failure: MediaFailure): MediaFailure {
    return withoutSecrets(failure, [this.parts.key, ...this.line.secrets()]);
  }
}

const log = logger('upstreams');

const MAX_STATES = 16;
const MAX_WORD = 64;

/** Warnings about one upstream for its operator, each logged once. */
export class UpstreamWarnings {
  private hasWarnedOfSkew = false;
  private hasWarnedOfWork = false;
  private readonly states = new Set<string>();

  constructor(private readonly upstream: string) {}

  /** An undocumented word for the state of work. */
  unknownState(word: string): void {
    const state = word.slice(0, MAX_WORD);
    if (this.states.has(state) || this.states.size >= MAX_STATES) return;
    this.states.add(state);
    log.warn('upstream.state_unknown', { upstream: this.upstream, state });
  }

  clockSkew(clockSkewMs: number): void {
    if (this.hasWarnedOfSkew) return;
    this.hasWarnedOfSkew = true;
    log.warn('upstream.clock_skew', { upstream: this.upstream, clockSkewMs });
  }

  /** Work that was taken under another key or by another server is not known here: it waits for its deadline, or for that key. */
  workElsewhere(): void {
    if (this.hasWarnedOfWork) return;
    this.hasWarnedOfWork = true;
    log.error('upstream.work_elsewhere', { upstream: this.upstream });
  }
}
