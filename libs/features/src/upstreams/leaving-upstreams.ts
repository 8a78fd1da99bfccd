import { Injectable } from '@nestjs/common';
import { Database } from '#platform';
import { MediaUpstreams } from './media-upstreams.js';

/** Every upstream that has work now. */
const WORKING = 'select distinct provider from task_poll order by provider';

/** Tells of upstreams that have work although they are on their way out, or are gone. */
@Injectable()
export class LeavingUpstreams {
  constructor(
    private readonly database: Database,
    private readonly upstreams: MediaUpstreams,
  ) {}

  /** One sentence that names them; null when there are none. */
  async reason(): Promise<string | null> {
    const { rows } = await this.database.query<{ provider: string }>({ name: 'working_upstreams', text: WORKING });
    const working = rows.map(({ provider }) => ({ provider, routed: this.upstreams.byId(provider) }));
    const lost = working.filter(({ routed }) => routed === undefined).map(({ provider }) => provider);
    // The sandbox has nothing to leave behind when a real upstream takes its place.
    const draining = working
      .filter(({ routed }) => routed?.isDraining && routed.upstream.protocol !== 'sandbox')
      .map(({ provider }) => provider);
    const reasons = [
      lost.length > 0 && `work waits for what is not configured any more: ${lost.join(', ')}`,
      draining.length > 0 && `switched off or removed, and still at work: ${draining.join(', ')}`,
    ];
    return reasons.filter(Boolean).join('; ') || null;
  }
}
