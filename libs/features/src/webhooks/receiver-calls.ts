import { lruCache } from '#platform';

export interface CallParties {
  readonly account_id: string;
  /** Host and port. */
  readonly receiver: string;
}

interface AccountCalls {
  total: number;
  readonly perReceiver: Map<string, number>;
}

/** Lists that run side by side: a receiver of an account, the calls under way to it, the one that was served last. */
export interface CallsUnderWay {
  readonly accounts: readonly string[];
  readonly receivers: readonly string[];
  readonly counts: readonly number[];
  readonly served: readonly string[];
}

const REMEMBERED_ACCOUNTS = 10_000;

/** The calls to receivers that are under way in this process, by account, and whose turn was last. */
export class ReceiverCalls {
  private readonly underWay = new Set<Promise<void>>();
  private readonly accounts = new Map<string, AccountCalls>();
  private readonly served = lruCache<string, string>(REMEMBERED_ACCOUNTS);
  private readonly waiting = new Set<() => void>();

  get total(): number {
    return this.underWay.size;
  }

  /** One entry for each receiver that is being called, and one for each account that was served and has no call now. */
  state(): CallsUnderWay {
    const entries = [...this.accounts].flatMap(([account, { perReceiver }]) =>
      [...perReceiver].map(([receiver, count]) => ({
        account,
        receiver,
        count,
        served: this.served.get(account) ?? '',
      })),
    );
    const idle = [...this.served.entries()].flatMap(([account, served]) =>
      this.accounts.has(account) ? [] : [{ account, receiver: '', count: 0, served }],
    );
    const all = [...entries, ...idle.slice(0, 1_000)];
    return {
      accounts: all.map(({ account }) => account),
      receivers: all.map(({ receiver }) => receiver),
      counts: all.map(({ count }) => count),
      served: all.map(({ served }) => served),
    };
  }

  /** Whether there is no place for another call: at all, for one of the accounts, or to one of the receivers. */
  isBusy(most: number, mostPerAccount: number, mostPerReceiver: number): boolean {
    if (this.total >= most) return true;
    return [...this.accounts.values()].some(
      ({ total, perReceiver }) =>
        total >= mostPerAccount || [...perReceiver.values()].some((count) => count >= mostPerReceiver),
    );
  }

  /** Counts the call until it is over; it must not throw. */
  begin(parties: CallParties, call: Promise<void>): void {
    this.count(parties, 1);
    this.served.set(parties.account_id, parties.receiver);
    const counted = call.then(() => {
      this.underWay.delete(counted);
      this.count(parties, -1);
      for (const wake of this.waiting) wake();
    });
    this.underWay.add(counted);
  }

  /** Resolves as soon as a call has ended, and after `waitMs` at the latest. */
  async anyEnded(waitMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, waitMs);
      this.waiting.add(wake);
    });
  }

  /** Resolves when none is under way any more. */
  async finished(): Promise<void> {
    await Promise.all(this.underWay);
  }

  private count({ account_id: account, receiver }: CallParties, change: 1 | -1): void {
    const calls = this.accounts.get(account) ?? { total: 0, perReceiver: new Map<string, number>() };
    calls.total += change;
    const count = (calls.perReceiver.get(receiver) ?? 0) + change;
    if (count === 0) calls.perReceiver.delete(receiver);
    else calls.perReceiver.set(receiver, count);
    if (calls.total === 0) this.accounts.delete(account);
    else this.accounts.set(account, calls);
  }
}
