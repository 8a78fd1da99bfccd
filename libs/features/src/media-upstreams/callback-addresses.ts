import { Inject, Injectable } from '@nestjs/common';
import { logger, SecretSealer } from '#platform';

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
