import { eventText, type LastPart, type TextEvent, type TextUsage } from '#contracts';
import { sumOfCalls } from './reported-usage.js';

/** The requests of one reply, where its vendor goes on with it: what those before used, and what the one that is read has written. */
export class ContinuedReply {
  private before: readonly TextUsage[] = [];
  private written = '';

  /** Whether what is read goes on with a reply. */
  get isContinued(): boolean {
    return this.before.length > 0;
  }

  /** Counts what the request that is read says; of the first one nobody asks. */
  note(events: readonly TextEvent[]): void {
    if (this.isContinued) for (const event of events) this.written += eventText(event);
  }

  /** The usage of all requests, given that of the one that is read. */
  usageWith(now: TextUsage | undefined): TextUsage | undefined {
    return this.isContinued ? sumOfCalls(now ? [...this.before, now] : this.before) : now;
  }

  /** @param held what has come of it and was not noted yet. */
  lastPart(now: TextUsage | undefined, held = ''): LastPart | undefined {
    return this.isContinued ? { written: this.written + held, isReported: now !== undefined } : undefined;
  }

  /** The request that was read is over, and another one goes on. */
  next(used: TextUsage | undefined): void {
    if (used) this.before = [...this.before, used];
    this.written = '';
  }
}

/** Of a request without a usage nobody would know later what it wrote: its reply is not gone on with. */
export const isCounted = (used: TextUsage | undefined): used is TextUsage =>
  used !== undefined && used.inputTokens > 0 && used.outputTokens > 0;
