import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type CallbackRequest, GatewayError, type JsonObject } from '#contracts';
import { Database, SecretSealer, signals } from '#platform';
import { PLATFORM, type Platform } from '#runtime';
import { MediaUpstreams } from '../../upstreams/media-upstreams.js';
import { ASK_NOW } from './poll-statements.js';
import { callbackPath, taskOfCallback } from '../../media-upstreams/callback-addresses.js';

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
  private readonly quiet = new LRUCache<string, true>({ max: MAX_QUIET, ttl: QUIET_MS });
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
