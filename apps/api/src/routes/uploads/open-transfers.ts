import { GatewayError } from '#contracts';
import { within } from '#platform';
import { LEAST_BYTES_PER_SECOND } from '../../http/sending-rate.js';

/** How many files a process takes or sends at once. */
interface Places {
  readonly ofAccount: number;
  readonly ofProcess: number;
  /** Whether those of one account are for people who know nothing of each other. */
  readonly areForStrangers: boolean;
}

/**
 * One that is taken may hold some 20 MB on its way to S3; one that is sent holds a connection to S3 for as long as its client
 * reads.
 */
const BY_KEY: Places = { ofAccount: 4, ofProcess: 24, areForStrangers: false };

/** Links are on pages: many people read the files of one account, each several at once. They come from this machine's disk. */
export const BY_LINK: Places = { ofAccount: 64, ofProcess: 256, areForStrangers: true };

const RETRY_AFTER_MS = 2_000;

/** The longest wait for those that were cut to end, in milliseconds: they only remove what came of them. */
const ENDING_MS = 10_000;

/** From this age on, a transfer where no place is free must have moved the least rate on the average to keep its place. */
const GRACE_MS = 60_000;

/** A transfer that may be ended to let another in. */
export interface Transfer {
  /** How much it has moved until now. */
  bytes(): number;
  cut(): void;
}

/** A transfer under way. */
interface Begun {
  readonly accountId: string;
  readonly atMs: number;
}

/**
 * Bounds how many files a process takes, or sends, at once, with a share for each account. When it is full, the slowest
 * transfer makes room, if it is slower than anybody need be: a few accounts together could hold every place for days. So does
 * the slowest of an account whose share strangers use: whoever has one link could keep everybody from all files of the account.
 */
export class OpenTransfers {
  private readonly accounts = new Map<string, number>();
  /** The transfers that may be ended. */
  private readonly begun = new Map<Transfer, Begun>();
  private readonly running = new Set<Promise<unknown>>();
  private all = 0;

  constructor(
    private readonly verb: 'upload' | 'download',
    private readonly places = BY_KEY,
    private readonly now = () => performance.now(),
  ) {}

  /**
   * @param transfer what may be ended for others; none where the work ends in time by itself.
   * @throws GatewayError `rate_limit_exceeded` or `overloaded`.
   */
  async during<Result>(accountId: string, work: () => Promise<Result>, transfer?: Transfer): Promise<Result> {
    const ofAccount = this.accounts.get(accountId) ?? 0;
    const { ofAccount: most, ofProcess, areForStrangers } = this.places;
    if (ofAccount >= most && !(areForStrangers && this.cutSlowest(accountId)))
      throw new GatewayError('rate_limit_exceeded', `An account may ${this.verb} ${most} files at once.`, {
        retryAfterMs: RETRY_AFTER_MS,
      });
    if (this.all >= ofProcess && !this.cutSlowest())
      throw new GatewayError(
        'overloaded',
        `Too many files are ${this.verb}ed at the moment; try this one again shortly.`,
        {
          retryAfterMs: RETRY_AFTER_MS,
        },
      );
    this.count(accountId, 1);
    if (transfer) this.begun.set(transfer, { accountId, atMs: this.now() });
    const running = work();
    this.running.add(running);
    try {
      return await running;
    } finally {
      this.running.delete(running);
      if (transfer) this.begun.delete(transfer);
      this.count(accountId, -1);
    }
  }

  /** Resolves when all have ended. Call it when every connection is closed, before what they need is. */
  async ended(): Promise<void> {
    await within(Promise.allSettled(this.running), ENDING_MS).catch(() => undefined);
  }

  /** @param among the transfers of this account alone; of all when it is left out. Answers false when none is slow enough. */
  private cutSlowest(among?: string): boolean {
    let slowest: Transfer | undefined;
    let leastRate = LEAST_BYTES_PER_SECOND;
    for (const [transfer, { accountId, atMs }] of this.begun) {
      if (among !== undefined && accountId !== among) continue;
      const ageMs = this.now() - atMs;
      const rate = (transfer.bytes() * 1_000) / ageMs;
      if (ageMs < GRACE_MS || rate >= leastRate) continue;
      slowest = transfer;
      leastRate = rate;
    }
    if (!slowest) return false;
    this.begun.delete(slowest);
    slowest.cut();
    return true;
  }

  private count(accountId: string, change: number): void {
    this.all += change;
    const now = (this.accounts.get(accountId) ?? 0) + change;
    if (now > 0) this.accounts.set(accountId, now);
    else this.accounts.delete(accountId);
  }
}
