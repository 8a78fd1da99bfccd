import { type Caller, isLimited, OpenTasks, RateLimits } from '#features';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';

/** Paid work, free work, or work that only the share of its account bounds. */
export type CountedAs = 'paid' | 'free' | 'shared';

/** Lets work begin while its key and its account are within their limits, and reports the limits in headers. */
@Injectable()
export class Admission {
  constructor(
    private readonly limits: RateLimits,
    private readonly openTasks: OpenTasks,
  ) {}

  /**
   * Counts a request: paid work for its key, free work for its key if that has a limit and else for the share of its
   * account, shared work for that share alone. Undefined: nothing bounds it.
   *
   * @throws GatewayError `rate_limit_exceeded`, or `unavailable` when limits cannot be checked.
   */
  count(kind: CountedAs, caller: Caller, response: Response): Promise<void> | undefined {
    const ofKey = kind === 'paid' || (kind === 'free' && caller.requestsPerMinute !== null);
    if (ofKey && !isLimited(caller)) return undefined;
    const admitted = ofKey ? this.limits.admit(caller) : this.limits.admitFree(caller.accountId);
    return admitted.then((headers) => showLimits(headers, response));
  }

  /** Counts a request of someone who reads in the console, as free work of an account counts. @throws as `count`. */
  async countReader(readerId: string, response: Response): Promise<void> {
    showLimits(await this.limits.admitFree(readerId), response);
  }

  /** @throws GatewayError `rate_limit_exceeded`: the account has as many open tasks as it may. */
  async admitTask({ accountId }: Caller): Promise<void> {
    await this.openTasks.admit(accountId);
  }
}

function showLimits(headers: Readonly<Record<string, string>>, response: Response): void {
  for (const name of Object.keys(headers)) response.setHeader(name, headers[name] ?? '');
}
