import { type Caller, OpenTasks, RateLimits } from '#features';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { MeteredKind } from './metered-kind.js';

/** Lets work begin while its key and its account are within their limits, and tells the client how these stand. */
@Injectable()
export class Admission {
  constructor(
    private readonly limits: RateLimits,
    private readonly openTasks: OpenTasks,
  ) {}

  /** @throws GatewayError `rate_limit_exceeded`, or `unavailable` when limits cannot be checked. */
  async admit(kind: MeteredKind, caller: Caller, response: Response): Promise<void> {
    const headers = await this.limits.admit(caller);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (kind === 'task') await this.openTasks.admit(caller.accountId);
  }
}
