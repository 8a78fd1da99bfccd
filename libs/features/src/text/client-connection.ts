import { Inject, Injectable } from '@nestjs/common';
import { GatewayError, shuttingDown, type StopSignal } from '#contracts';
import { SlotList, StopSource } from '#platform';
import type { LeavingLimits } from '#providers';
import { PLATFORM, type Platform } from '#runtime';

const NO_SLOT = -1;

/** Whether the caller of one text request is still there, and the signal that ends the work for them at the upstream. */
export class ClientConnection {
  /** Where `RunningTexts` has it. */
  slot = NO_SLOT;
  private readonly upstream = new StopSource();
  private isGone = false;
  private isAsked = false;
  private endReason: GatewayError | undefined;
  private refusal: GatewayError | undefined;
  private isCutByKey = false;
  private whenLeft: (() => void) | undefined;
  private leaving: AbortController | undefined;

  constructor(readonly accountId: string) {}

  /** Aborted when the upstream shall not be read any more, which may be long after the caller has left. */
  get signal(): StopSignal {
    return this.upstream;
  }

  get hasLeft(): boolean {
    return this.isGone;
  }

  /** Why we ended the work although the caller was there; undefined where we did not. */
  get endedBy(): GatewayError | undefined {
    return this.endReason;
  }

  /** Whether more may be begun for the caller: they are there, and may still ask. */
  get isServed(): boolean {
    return !this.isGone && !this.refusal;
  }

  /** Whether the caller pays for what they did not see of the work: they ended it, by leaving or by the end of the key of a stream. */
  get owesUnseen(): boolean {
    return this.isCutByKey || (this.isGone && !this.endReason);
  }

  /** Aborted as soon as the caller has left, for work that only this caller pays for. */
  get left(): AbortSignal {
    this.leaving ??= new AbortController();
    if (this.isGone) this.leaving.abort();
    return this.leaving.signal;
  }

  /**
   * Takes note that an upstream is asked for the caller.
   *
   * @throws Error: they have left, or may not ask any more, and nothing more is to be begun for them.
   */
  ask(): void {
    if (this.refusal) throw this.refusal;
    if (this.isGone) throw new Error('the caller has left');
    this.isAsked = true;
  }

  /** Whether an upstream was asked, so that the request was let in and paid for. */
  get hasAsked(): boolean {
    return this.isAsked;
  }

  /** Ends the work for a reason of ours, which the caller is told, if they are still there. They pay for what was delivered. */
  end(reason: GatewayError): void {
    if (!this.isGone) this.endReason ??= reason;
    this.upstream.abort(this.endReason);
  }

  /**
   * The caller's key or session has ended. A stream ends with it, and costs what it costs to leave, or keys would be ended to pay for less.
   * A whole reply is still made to its end, as a task is, but no further request is sent for it; if it breaks, it is free as with any key.
   */
  refuse(reason: GatewayError, isStreamed: boolean): void {
    this.refusal ??= reason;
    if (!isStreamed) return;
    this.isCutByKey = true;
    this.end(reason);
  }

  /** The caller is gone. Before any work has begun that ends it; after, `whenLeft` decides. */
  leave(): void {
    if (this.isGone) return;
    this.isGone = true;
    this.leaving?.abort();
    if (this.whenLeft) this.whenLeft();
    else this.stop();
  }

  /** Called once, when the caller leaves; at once when they have. */
  onLeave(whenLeft: () => void): void {
    this.whenLeft = whenLeft;
    if (this.isGone) whenLeft();
  }

  /** Ends the work at the upstream. */
  stop(): void {
    this.upstream.abort();
  }
}

/** How long callers have to read that the process ends, in milliseconds. */
const TELLING_MS = 2_000;
/** The longest wait for work whose callers are gone to end, in milliseconds: it was told to, and only settles. */
const ENDING_MS = 10_000;

/** When a caller beyond the share of its account may try again, in milliseconds. */
const RETRY_AFTER_MS = 2_000;

/**
 * The text requests of this process, each from its first step to the last byte of its answer, so that a stop loses none, and no
 * account has so many that the memory of all is gone.
 */
@Injectable()
export class RunningTexts {
  private readonly callers = new SlotList<ClientConnection>();
  private readonly ofAccount = new Map<string, number>();
  private isDraining = false;
  private whenNone: (() => void)[] = [];
  private readonly maxPerAccount: number;

  constructor(@Inject(PLATFORM) { config }: Pick<Platform, 'config'>) {
    this.maxPerAccount = config.limits.TEXTS_AT_ONCE_PER_ACCOUNT;
  }

  /**
   * Call `over` with the presence when the work is done and the answer has left.
   *
   * @throws GatewayError `unavailable`: the process ends; `rate_limit_exceeded`: the account has as many as it may.
   */
  begin(accountId: string): ClientConnection {
    if (this.isDraining) throw shuttingDown();
    const running = this.ofAccount.get(accountId) ?? 0;
    if (running >= this.maxPerAccount)
      throw new GatewayError(
        'rate_limit_exceeded',
        `The account has ${this.maxPerAccount} text requests that are being answered, the most it may have; send this one again when one of them is done.`,
        { retryAfterMs: RETRY_AFTER_MS },
      );
    this.ofAccount.set(accountId, running + 1);
    const client = new ClientConnection(accountId);
    client.slot = this.callers.add(client);
    return client;
  }

  over(client: ClientConnection): void {
    if (client.slot === NO_SLOT) return;
    this.callers.remove(client.slot);
    client.slot = NO_SLOT;
    const running = (this.ofAccount.get(client.accountId) ?? 0) - 1;
    if (running > 0) this.ofAccount.set(client.accountId, running);
    else this.ofAccount.delete(client.accountId);
    if (this.callers.size === 0) for (const resolve of this.whenNone.splice(0)) resolve();
  }

  /**
   * Lets nothing begin any more, and what runs go on for `limitMs`. What still runs then is ended by us: its caller is told so
   * in the shape of its style, and pays for what was delivered. Resolves when all have been told, or do not read it.
   */
  async drain(limitMs: number): Promise<void> {
    this.isDraining = true;
    await this.none(limitMs);
    for (const caller of this.callers) caller.end(shuttingDown());
    await this.none(TELLING_MS);
  }

  /** Resolves when the work of all is over. Call it when every connection is closed, before what the work needs is. */
  finish(): Promise<void> {
    return this.none(ENDING_MS);
  }

  private async none(limitMs: number): Promise<void> {
    if (this.callers.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.whenNone.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

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
export class DisconnectDrainer {
  private readonly shares = new Map<string, Share>();
  private readonly stops = new Set<() => void>();
  private isClosing = false;
  private whenEmpty: (() => void)[] = [];

  constructor(private readonly limits: LeavingLimits) {}

  /** The most that is read of a reply after its caller has left, in bytes. */
  get maxBytes(): number {
    return this.limits.readBytes;
  }

  /**
   * Keeps reading an upstream; `stop` is called when its time is over, or at once when there is no slot. The caller calls the
   * returned function when the work is over.
   */
  begin(left: LeftRequest, stop: () => void): () => void {
    this.stops.add(stop);
    const hasPlace = !this.isClosing && this.limits.readMs > 0 && this.hasPlace(left);
    const timer = hasPlace ? setTimeout(stop, this.limits.readMs) : undefined;
    if (hasPlace) this.take(left, 1);
    else stop();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      if (hasPlace) this.take(left, -1);
      this.stops.delete(stop);
      if (this.stops.size === 0) for (const resolve of this.whenEmpty.splice(0)) resolve();
    };
  }

  /** Stops whatever is read on, and lets nothing begin any more. */
  async close(): Promise<void> {
    this.isClosing = true;
    for (const stop of this.stops) stop();
    if (this.stops.size > 0) await this.empty();
  }

  private empty(): Promise<void> {
    return new Promise((resolve) => this.whenEmpty.push(resolve));
  }

  /** A body may be larger than a share: then it is the only one. */
  private hasPlace({ accountId, bodyBytes }: LeftRequest): boolean {
    const { requests, requestsPerAccount, bodyBytes: bytes, bodyBytesPerAccount } = this.limits;
    const all = this.share(EVERYONE);
    const own = this.share(accountId);
    return (
      all.requests < requests &&
      own.requests < requestsPerAccount &&
      (all.bytes === 0 || all.bytes + bodyBytes <= bytes) &&
      (own.bytes === 0 || own.bytes + bodyBytes <= bodyBytesPerAccount)
    );
  }

  private take({ accountId, bodyBytes }: LeftRequest, sign: 1 | -1): void {
    for (const name of [EVERYONE, accountId]) {
      const { requests, bytes } = this.share(name);
      const next = { requests: requests + sign, bytes: bytes + sign * bodyBytes };
      if (next.requests === 0) this.shares.delete(name);
      else this.shares.set(name, next);
    }
  }

  private share(name: string): Share {
    return this.shares.get(name) ?? { requests: 0, bytes: 0 };
  }
}
