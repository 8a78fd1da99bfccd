import { Injectable } from '@nestjs/common';
import { type KeyView, PeopleService, SpendLimits } from '#features';
import type { AboutKeys } from './views.js';

/** Reads what pages show of keys beside their rows. */
@Injectable()
export class KeyFacts {
  constructor(
    private readonly people: PeopleService,
    private readonly limits: SpendLimits,
  ) {}

  async of(rows: readonly KeyView[]): Promise<AboutKeys> {
    const [names, limits] = await Promise.all([
      this.people.namesOf(rows.flatMap(({ createdBy }) => createdBy ?? [])),
      this.limits.ofKeys(rows.map(({ id }) => id)),
    ]);
    return { names, limits };
  }
}
