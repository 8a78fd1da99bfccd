import { Inject, Injectable } from '@nestjs/common';
import { type CallbackRequest, GatewayError, type JsonObject } from '#contracts';
import { Database, logger, lruCache, SecretSealer, signals } from '#platform';
import { PLATFORM, type Platform } from '#runtime';
import { MediaUpstreams } from '../../upstreams/media-upstreams.js';
import { ASK_NOW } from './poll-schedule.js';

const log = logger('upstreams');

/** Injects where vendors reach this gateway from outside, without a slash at the end; undefined: nowhere. */
export const CALLBACK_BASE_URL = Symbol('callback base URL');

/** Where the API takes calls of a vendor about an order. */
export const callbackPath = (upstreamId: string, token: string): string => `/callbacks/v1/${upstreamId}/${token}`;

const ownerOf = (upstreamId: string): string => `vendor callback ${upstreamId}`;

/** The callback addresses given to vendors, one for each order: they cannot be guessed and do not reveal the task. */
@Injectable()
export class CallbackAddresses {
  private hasWarned = false;

  constructor(
    private readonly sealer: SecretSealer,
    @Inject(CALLBACK_BASE_URL) private readonly baseUrl: string | undefined,
  ) {}

  /** Where an upstream may say that something happened to a task; undefined: it cannot reach us. */
  of(upstreamId: string, taskId: string): string | undefined {
    if (this.baseUrl === undefined) {
      if (!this.hasWarned) log.warn('upstream.no_callbacks', { upstream: upstreamId, needs: 'PUBLIC_BASE_URL' });
      this.hasWarned = true;
      return undefined;
    }
    const token = this.sealer.seal(taskId, ownerOf(upstreamId)).toString('base64url');
    return `${this.baseUrl}${callbackPath(upstreamId, token)}`;
  }
}

/** The task behind the token of an address; undefined for a token that is not ours, or another upstream's. */
export function taskOfCallback(sealer: SecretSealer, upstreamId: string, token: string): string | undefined {
  try {
    return sealer.open(Buffer.from(token, 'base64url'), ownerOf(upstreamId));
  } catch {
    return undefined;
  }
}

/** Callbacks about one task within this time count once, in milliseconds. */
const QUIET_MS = 1_000;
const MAX_QUIET = 10_000;
/** Longer than any token that we make. */
const MAX_TOKEN = 512;

/** A received callback: its address and its content. */
export interface ReceivedCallback extends Pick<CallbackRequest, 'method' | 'query' | 'headers'> {
  readonly upstream: string;
  readonly token: string;
  /** Read only for vendors that want an answer to it. */
  readonly body: () => Promise<JsonObject | undefined>;
}

/**
 * Hears vendors say that something happened to an order. What they say is not believed: it is only a reason to ask, under the
 * limits that hold for every question. One that signs is asked for its signature all the same, and one that asks is answered.
 */
@Injectable()
export class VendorCallbacksService {
  private readonly quiet = lruCache<string, true>(MAX_QUIET, { ttl: QUIET_MS });
  /** What stands before our paths from outside. */
  private readonly prefix: string;

  constructor(
    private readonly database: Database,
    private readonly sealer: SecretSealer,
    private readonly upstreams: MediaUpstreams,
    @Inject(PLATFORM) { config }: Platform,
  ) {
    const { PUBLIC_BASE_URL: base } = config.server;
    this.prefix = base === undefined ? '' : new URL(base).pathname.replace(/\/+$/, '');
  }

  /** @returns the response for the vendor. @throws GatewayError `not_found`: not an address of ours, or not from the vendor it was given to. */
  async receive(received: ReceivedCallback): Promise<JsonObject> {
    const { upstream, token } = received;
    const taskId = token.length > MAX_TOKEN ? undefined : taskOfCallback(this.sealer, upstream, token);
    if (taskId === undefined) throw notAccepted('unknown');
    const reply = await this.replyTo(received);
    if (reply === 'forged') throw notAccepted('forged');
    await this.pollSoon(upstream, taskId);
    return reply;
  }

  private async replyTo({
    upstream,
    token,
    method,
    query,
    headers,
    body,
  }: ReceivedCallback): Promise<'forged' | JsonObject> {
    const read = this.upstreams.byId(upstream)?.upstream.readCallback;
    if (!read) return {};
    const path = this.prefix + callbackPath(upstream, token);
    const answer = read({ method, path, query, headers, body: await body() });
    return answer === 'forged' ? answer : answer.reply;
  }

  private async pollSoon(upstream: string, taskId: string): Promise<void> {
    if (this.quiet.has(taskId)) return signals.vendorCallbacks.inc({ outcome: 'repeated' });
    this.quiet.set(taskId, true);
    const { rowCount } = await this.database.query({ name: 'ask_now', text: ASK_NOW, values: [taskId, upstream] });
    // Late, or about an order whose reply is still on its way.
    signals.vendorCallbacks.inc({ outcome: rowCount === 0 ? 'late' : 'heard' });
  }
}

/** The same error for a wrong address and a wrong signature, so that neither can be probed. */
function notAccepted(outcome: 'unknown' | 'forged'): GatewayError {
  signals.vendorCallbacks.inc({ outcome });
  return new GatewayError('not_found', 'There is nothing at this address.');
}
