import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { ReserveMemory } from '#features';
import { BodyBudget, noRoomFor, UNCOUNTED_BYTES } from './body-budget.js';
import { expectClient } from './client-gone.js';

/**
 * Memory for what a small request refers to: a stored conversation weighs what a body of its length does, for
 * every caller and however slowly its response is read.
 */
@Injectable()
export class MemoryReservations {
  constructor(private readonly budget: BodyBudget) {}

  /**
   * What it returns reserves until the response is over, and throws `overloaded` or `rate_limit_exceeded` when too little
   * is left; less than nothing gives back.
   */
  reserverFor(answer: Response, accountId: string): ReserveMemory {
    return (bytes) => {
      const whose = Math.abs(bytes) > UNCOUNTED_BYTES ? this.budget.growBy(answer, accountId, bytes) : null;
      if (whose !== null && bytes > 0) throw noRoomFor(whose);
    };
  }

  /**
   * Does work that is finished, and paid for, also when its client leaves: the memory of the request is kept until then.
   *
   * @throws GatewayError as `expectClient`.
   */
  async during<Result>(answer: Response, work: () => Promise<Result>): Promise<Result> {
    expectClient(answer);
    return this.budget.during(answer, work);
  }
}
