import { GatewayError } from '#contracts';
import { lruCache, SlotList } from '#platform';

/** How long a body may pause, in seconds. */
const PAUSE_SECONDS = 10;
/** What it must come at on the average, pauses aside, in bytes a second: a poor mobile connection is faster. */
export const LEAST_BYTES_PER_SECOND = 8 * 1024;
const MEASURE_EVERY_MS = 1_000;

/** What a sender may be behind: all it sent beyond the rate counts for one pause, and no more. */
const CREDIT_MAX_BYTES = PAUSE_SECONDS * LEAST_BYTES_PER_SECOND;

interface Sender {
  slot: number;
  credit: number;
  seenBytes: number;
  seenAtMs: number;
  readonly bytes: () => number;
  readonly tooSlow: (refusal: GatewayError) => void;
}

/**
 * Finds bodies that arrive so slowly that their sender holds a connection and memory for nothing. One timer checks all of
 * them; it stops at the first check that finds none, since a timer of its own for each body costs more than the body.
 */
export class SendingRate {
  private readonly senders = new SlotList<Sender>();
  private timer: NodeJS.Timeout | undefined;

  /** Watches a body until the answered function is called. `tooSlow` is called once. */
  watch(bytes: () => number, tooSlow: (refusal: GatewayError) => void): () => void {
    const sender = { slot: -1, credit: CREDIT_MAX_BYTES, seenBytes: 0, seenAtMs: performance.now(), bytes, tooSlow };
    sender.slot = this.senders.add(sender);
    this.timer ??= setInterval(() => this.measure(), MEASURE_EVERY_MS).unref();
    return () => this.release(sender);
  }

  private release(sender: Sender): void {
    if (sender.slot === -1) return;
    this.senders.remove(sender.slot);
    sender.slot = -1;
  }

  private measure(): void {
    if (this.senders.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
    const now = performance.now();
    for (const sender of this.senders) {
      const bytes = sender.bytes();
      const due = ((now - sender.seenAtMs) / 1000) * LEAST_BYTES_PER_SECOND;
      sender.credit = Math.min(CREDIT_MAX_BYTES, sender.credit + bytes - sender.seenBytes) - due;
      [sender.seenBytes, sender.seenAtMs] = [bytes, now];
      if (sender.credit > 0) continue;
      this.release(sender);
      sender.tooSlow(
        new GatewayError(
          'request_timeout',
          `The body came too slowly: it must come at ${LEAST_BYTES_PER_SECOND} bytes a second on the average, and may pause for ${PAUSE_SECONDS} s.`,
        ),
      );
    }
  }
}

/** How quickly the uploads of an account may come together, in bytes a second: reading, hashing and writing them takes a processor. */
export const MOST_BYTES_PER_SECOND = 32 * 1024 * 1024;
/** What comes at once all the same. */
const BURST_BYTES = 64 * 1024 * 1024;

/** The accounts that are known at once; one that sent nothing for long need not be. */
const PACED_MAX = 10_000;

/** Slows uploads down, so that the processor of one account's files is no more than its share. */
export class SharedPace {
  /** When what an account has sent would have come at the rate, by account, in milliseconds. */
  private readonly dueAtMs = lruCache<string, number>(PACED_MAX);

  constructor(private readonly now = () => performance.now()) {}

  /** Counts bytes of an account, and answers how long the next ones are to wait, in milliseconds. */
  delayMs(accountId: string, bytes: number): number {
    const now = this.now();
    const earliest = now - (BURST_BYTES / MOST_BYTES_PER_SECOND) * 1_000;
    const dueAt = Math.max(this.dueAtMs.get(accountId) ?? 0, earliest) + (bytes / MOST_BYTES_PER_SECOND) * 1_000;
    this.dueAtMs.set(accountId, dueAt);
    return Math.max(0, dueAt - now);
  }
}
