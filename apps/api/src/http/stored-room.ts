import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { MakeRoom } from '#features';
import { BodyBudget, noRoomFor, UNCOUNTED_BYTES } from './body-budget.js';

/**
 * Room for what a small request refers to: a stored conversation weighs what a body of its length does, for
 * every caller and however slowly its answer is read.
 */
@Injectable()
export class StoredRoom {
  constructor(private readonly budget: BodyBudget) {}

  /** Holds room until the answer is over. What it returns throws `overloaded` or `rate_limit_exceeded` when there is none. */
  of(answer: Response, accountId: string): MakeRoom {
    return (bytes) => {
      const whose = bytes > UNCOUNTED_BYTES ? this.budget.growBy(answer, accountId, bytes) : null;
      if (whose !== null) throw noRoomFor(whose);
    };
  }
}
