import type { ServerResponse } from 'node:http';
import { GatewayError } from '#contracts';

/** Bodies up to this many bytes are held without asking: connections bound them, and most requests are smaller. */
export const UNCOUNTED_BYTES = 64 * 1024;

/** When to send a request again that there was no room for, in milliseconds. */
const RETRY_AFTER_MS = 2_000;

/** What a body takes for each byte of it: the bytes themselves, and the strings decoded from them. */
const HELD_PER_BYTE = 2;

/** The owner of what operators send and read, who have no account. */
export const OPERATORS = 'operators';

/** The part of the budget that an account may hold whatever the others hold. */
const SHARE = 1 / 4;

/** How a request is refused that there is no room for. */
export const noRoomFor = (whose: NoRoom): GatewayError =>
  whose === 'process'
    ? new GatewayError('overloaded', 'Too many large requests arrive at the moment; send this one again shortly.', {
        retryAfterMs: RETRY_AFTER_MS,
      })
    : new GatewayError(
        'rate_limit_exceeded',
        'The account sends too many large requests at once; send this one again when others are answered.',
        { retryAfterMs: RETRY_AFTER_MS },
      );

interface Held {
  readonly accountId: string;
  bytes: number;
}

/** Why a body may not grow: all bodies together are too large, or those of its account. */
export type NoRoom = 'process' | 'account';

/**
 * Bounds the memory of all request bodies that a process holds at once. Each body alone may be large, because images
 * travel inside; without this bound a few dozen callers together would take the process and all streams with it.
 * A body counts twice, once as bytes and once as texts. An account may hold a quarter of the budget, and beyond that half
 * of what the other accounts leave, so that none can hold it all.
 */
export class BodyBudget {
  // Weak: the discarded tables of a `Map` keep alive what was deleted from it, bodies included, until a full garbage collection.
  private readonly answers = new WeakMap<ServerResponse, Held>();
  private readonly accounts = new Map<string, number>();
  /** Those whose work goes on when their clients leave. */
  private readonly working = new WeakSet<ServerResponse>();
  private readonly maxBytes: number;
  private readonly share: number;
  private held = 0;

  /**
   * @param budgetBytes the most that all bodies may hold together.
   * @param bodyBytes the largest body: the budget has room for two of them, and the share of an account for one.
   */
  constructor(budgetBytes: number, bodyBytes: number) {
    this.maxBytes = Math.max(budgetBytes, 2 * HELD_PER_BYTE * bodyBytes);
    this.share = Math.max(this.maxBytes * SHARE, HELD_PER_BYTE * bodyBytes);
  }

  get heldBytes(): number {
    return this.held;
  }

  /**
   * Lets the body of a request grow to so many bytes, which are given back when its answer is over, and so is what `during` was
   * told of. Returns the reason when there is no room or the client has left; nothing changed then.
   */
  grow(answer: ServerResponse, accountId: string, bodyBytes: number): NoRoom | null {
    const known = this.answers.get(answer);
    const more = bodyBytes * HELD_PER_BYTE - (known?.bytes ?? 0);
    const ofAccount = this.accounts.get(accountId) ?? 0;
    if (answer.destroyed || this.held + more > this.maxBytes) return 'process';
    const leftByOthers = this.maxBytes - (this.held - ofAccount);
    if (ofAccount + more > Math.max(this.share, leftByOthers / 2)) return 'account';
    if (known) known.bytes += more;
    else {
      this.answers.set(answer, { accountId, bytes: more });
      answer.once('close', () => this.working.has(answer) || this.giveBack(answer));
    }
    this.count(accountId, more);
    return null;
  }

  /** Lets a request hold so much more than it does, as `grow`. */
  growBy(answer: ServerResponse, accountId: string, moreBytes: number): NoRoom | null {
    return this.grow(answer, accountId, (this.answers.get(answer)?.bytes ?? 0) / HELD_PER_BYTE + moreBytes);
  }

  /** Lets a request hold as much as an answer of so many bytes, unless it holds more already; as `grow`. */
  growForAnswer(answer: ServerResponse, accountId: string, bytes: number): NoRoom | null {
    if (bytes <= UNCOUNTED_BYTES) return null;
    const held = this.answers.get(answer)?.bytes ?? 0;
    return bytes * HELD_PER_BYTE <= held ? null : this.grow(answer, accountId, bytes);
  }

  /** Does work that goes on when the client leaves: until it is done, the body is held, whoever waits for the answer. */
  async during<Result>(answer: ServerResponse, work: () => Promise<Result>): Promise<Result> {
    this.working.add(answer);
    try {
      return await work();
    } finally {
      this.working.delete(answer);
      if (answer.destroyed) this.giveBack(answer);
    }
  }

  /** Gives back what a request holds, before its answer is over. */
  giveBack(answer: ServerResponse): void {
    const held = this.answers.get(answer);
    if (!held) return;
    this.answers.delete(answer);
    this.count(held.accountId, -held.bytes);
  }

  private count(accountId: string, bytes: number): void {
    this.held += bytes;
    const now = (this.accounts.get(accountId) ?? 0) + bytes;
    if (now > 0) this.accounts.set(accountId, now);
    else this.accounts.delete(accountId);
  }
}
