import type { LeavingLimits } from '#providers';

const EVERYONE = '';

/** A request whose caller has left. */
export interface LeftRequest {
  readonly accountId: string;
  /** Of its body, which is kept while its upstream is read on. */
  readonly bodyBytes: number;
}

interface Share {
  requests: number;
  bytes: number;
}

/**
 * The places of upstreams that are read on for their usage after their callers have left. They are few, for the process
 * and for each account, and each is given for a short time, so that leaving holds nothing that others need.
 */
export class ReadingOn {
  readonly #limits: LeavingLimits;
  readonly #shares = new Map<string, Share>();
  readonly #stops = new Set<() => void>();
  #isClosing = false;
  #whenEmpty: (() => void)[] = [];

  constructor(limits: LeavingLimits) {
    this.#limits = limits;
  }

  /** The most that is read of a reply after its caller has left, in bytes. */
  get maxBytes(): number {
    return this.#limits.readBytes;
  }

  /**
   * Keeps reading an upstream; `stop` is called when its time is over, or at once when there is no slot. The caller calls the
   * returned function when the work is over.
   */
  begin(left: LeftRequest, stop: () => void): () => void {
    this.#stops.add(stop);
    const hasPlace = !this.#isClosing && this.#limits.readMs > 0 && this.#hasPlace(left);
    const timer = hasPlace ? setTimeout(stop, this.#limits.readMs) : undefined;
    if (hasPlace) this.#take(left, 1);
    else stop();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      if (hasPlace) this.#take(left, -1);
      this.#stops.delete(stop);
      if (this.#stops.size === 0) for (const resolve of this.#whenEmpty.splice(0)) resolve();
    };
  }

  /** Stops whatever is read on, and lets nothing begin any more. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const stop of this.#stops) stop();
    if (this.#stops.size > 0) await this.#empty();
  }

  #empty(): Promise<void> {
    return new Promise((resolve) => this.#whenEmpty.push(resolve));
  }

  /** A body may be larger than a share: then it is the only one. */
  #hasPlace({ accountId, bodyBytes }: LeftRequest): boolean {
    const { requests, requestsPerAccount, bodyBytes: bytes, bodyBytesPerAccount } = this.#limits;
    const all = this.#share(EVERYONE);
    const own = this.#share(accountId);
    return (
      all.requests < requests &&
      own.requests < requestsPerAccount &&
      (all.bytes === 0 || all.bytes + bodyBytes <= bytes) &&
      (own.bytes === 0 || own.bytes + bodyBytes <= bodyBytesPerAccount)
    );
  }

  #take({ accountId, bodyBytes }: LeftRequest, sign: 1 | -1): void {
    for (const name of [EVERYONE, accountId]) {
      const { requests, bytes } = this.#share(name);
      const next = { requests: requests + sign, bytes: bytes + sign * bodyBytes };
      if (next.requests === 0) this.#shares.delete(name);
      else this.#shares.set(name, next);
    }
  }

  #share(name: string): Share {
    return this.#shares.get(name) ?? { requests: 0, bytes: 0 };
  }
}
