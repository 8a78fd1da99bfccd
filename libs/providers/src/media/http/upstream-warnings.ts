import { logger } from '#platform';

const log = logger('upstreams');

const MAX_STATES = 16;
const MAX_WORD = 64;

/** Warnings about one upstream for its operator, each logged once. */
export class UpstreamWarnings {
  private hasWarnedOfSkew = false;
  private readonly states = new Set<string>();

  constructor(private readonly upstream: string) {}

  /** An undocumented word for the state of work. */
  unknownState(word: string): void {
    const state = word.slice(0, MAX_WORD);
    if (this.states.has(state) || this.states.size >= MAX_STATES) return;
    this.states.add(state);
    log.warn('upstream.state_unknown', { upstream: this.upstream, state });
  }

  clockSkew(clockSkewMs: number): void {
    if (this.hasWarnedOfSkew) return;
    this.hasWarnedOfSkew = true;
    log.warn('upstream.clock_skew', { upstream: this.upstream, clockSkewMs });
  }
}
