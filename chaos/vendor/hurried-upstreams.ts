import type { MediaUpstream, UpstreamTraits } from '#contracts';
import { SafeFetcher } from '#platform';
import { openMediaUpstreams, type OpenMediaUpstreams } from '#providers';
import { POISON } from './poison.js';
import { SEARCHABLE_AFTER_MS } from './vendor-delays.js';

/** The longest a call may take whose vendor is to answer at once, in milliseconds; one that stalls is given up then. */
const TIMEOUT_MS = 2_000;
/** The same where the answer brings the files. */
const CALL_TIMEOUT_MS = 20_000;

/** The same for a check that brings them: they go into the store one after the other, on a machine with much other work. */
const KEEPING_TIMEOUT_MS = 8_000;

/** Vendors take minutes, and adapters wait accordingly; a run has seconds. What a repeated order does stays as it is. */
const hurried = (traits: UpstreamTraits): UpstreamTraits => ({
  ...traits,
  startTimeoutMs: traits.style === 'call' ? CALL_TIMEOUT_MS : TIMEOUT_MS,
  findableAfterMs: 2 * SEARCHABLE_AFTER_MS,
  firstCheckMs: 150,
  checkEveryMs: 150,
  checkTimeoutMs: traits.checksBring === undefined ? TIMEOUT_MS : KEEPING_TIMEOUT_MS,
});

/**
 * The configured upstreams with their real adapters, which wait less and die of poison.
 *
 * @param allowed addresses of this machine that may be fetched, as MEDIA_FETCH_ALLOW has them.
 */
export function openHurriedUpstreams(allowed: string): OpenMediaUpstreams {
  const fetcher = new SafeFetcher({ maxRedirects: 0, allow: allowed.split(',') });
  const media = openMediaUpstreams({ fetcher });
  return {
    ...media,
    open: (entry) => {
      const place = media.open(entry);
      return { ...place, upstream: inAHurry(place.upstream) };
    },
  };
}

function inAHurry(upstream: MediaUpstream): MediaUpstream {
  const start: MediaUpstream['start'] = (order, call) => {
    // As a decoder would that crashes, or a process that has no memory left.
    const { prompt } = order.parameters;
    if (typeof prompt === 'string' && prompt.startsWith(POISON)) process.kill(process.pid, 'SIGKILL');
    return upstream.start(order, call);
  };
  return Object.create(upstream, {
    traits: { get: () => hurried(upstream.traits) },
    start: { value: start },
  }) as MediaUpstream;
}
