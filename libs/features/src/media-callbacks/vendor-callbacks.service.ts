import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { GatewayError } from '#contracts';
import { Database, SecretSealer, signals } from '#platform';
import { ASK_NOW } from '../tasks/poll/poll-statements.js';
import { taskOfCallback } from './callback-addresses.js';

/** What is said of one task within this time is heard once, in milliseconds. */
const QUIET_MS = 1_000;
const MAX_QUIET = 10_000;
/** Longer than any token that we make. */
const MAX_TOKEN = 512;

/**
 * Hears vendors say that something happened to an order. What they say is not read: it is only a reason to ask, under the
 * limits that hold for every question.
 */
@Injectable()
export class VendorCallbacksService {
  private readonly quiet = new LRUCache<string, true>({ max: MAX_QUIET, ttl: QUIET_MS });

  constructor(
    private readonly database: Database,
    private readonly sealer: SecretSealer,
  ) {}

  /** @throws GatewayError `not_found`: no address of ours. */
  async hear(upstreamId: string, token: string): Promise<void> {
    const taskId = token.length > MAX_TOKEN ? undefined : taskOfCallback(this.sealer, upstreamId, token);
    if (taskId === undefined) {
      signals.vendorCallbacks.inc({ outcome: 'unknown' });
      throw new GatewayError('not_found', 'There is nothing at this address.');
    }
    if (this.quiet.has(taskId)) return signals.vendorCallbacks.inc({ outcome: 'repeated' });
    this.quiet.set(taskId, true);
    const { rowCount } = await this.database.query({ name: 'ask_now', text: ASK_NOW, values: [taskId, upstreamId] });
    // Late, or about an order whose reply is still on its way.
    signals.vendorCallbacks.inc({ outcome: rowCount === 0 ? 'late' : 'heard' });
  }
}
