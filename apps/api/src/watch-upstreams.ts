import type { INestApplicationContext } from '@nestjs/common';
import { LeavingUpstreams } from '#features';
import type { Platform } from '#runtime';

/** Tells by `/readyz` which media upstreams still have work although they are to leave. */
export function watchUpstreams(api: INestApplicationContext, { health }: Platform): void {
  const leaving = api.get(LeavingUpstreams, { strict: false });
  health.add({ part: 'media_upstreams', isNeeded: false, check: () => leaving.reason() });
}
