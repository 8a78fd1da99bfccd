import type { LRUCache } from 'lru-cache';
import { type ErrorCode, ERRORS, isJsonObject, type TextReply } from '#contracts';
import { type Clock, logger, lruCache, type SharedNotes, signals } from '#platform';
import type { TextRoute, TextUpstream } from '../upstreams/text-upstreams.js';
import type { WrittenBy } from './item-store.js';
import type { ConversationKey } from './conversation-key.js';

const log = logger('text');

/** Conversations that a process remembers, and of one account. */
const REMEMBERED_MAX = 50_000;
const PER_ACCOUNT_MAX = 10_000;

/** How long a conversation stays at a worse priority once a better one is there, so that it does not go back and forth. */
const BELOW_PRIORITY_MS = 600_000;

/** Of a key, in logs. */
const SHOWN_CHARACTERS = 8;

/** Where a conversation lives: whose prompt cache holds its beginning, and who can read its proofs of reasoning. */
interface Binding {
  readonly upstream: string;
  readonly account: string;
  /** `TextUpstream.access` at that time. */
  readonly access?: string | undefined;
  /** Since when, by the time of day. */
  readonly sinceMs: number;
  /** Names the last proof (`proofName`) that was there when it moved: that one and those before it are of other accounts. */
  readonly provenFrom?: string | undefined;
  /** True: its upstream refused reasoning because of what came before it, and since then drops what it does not take. */
  readonly letsDrop?: boolean | undefined;
}

/** What is known of the conversation of a request before an upstream is chosen. */
export interface AskedConversation {
  /** Undefined where nothing tells one conversation from another. Takes a hash, so that it is asked where there is a choice alone. */
  readonly key: () => ConversationKey | undefined;
  /** Who wrote the stored response that the request goes on with. */
  readonly continues?: WrittenBy | undefined;
  /** Names the last proof of reasoning in the request. */
  readonly lastProof: () => string | undefined;
  /** True: it refers to something that one vendor account alone has. */
  readonly isBound: () => boolean;
}

/** Why a conversation goes on elsewhere. */
type MoveReason =
  /** Its upstream was switched off or removed, has no weight, or does not serve the request any more. */
  | 'gone'
  /** The key or the address of its upstream is another. */
  | 'changed'
  | 'cooling_down'
  /** One of a better priority is there again. */
  | 'priority'
  /** The code of the failure with which its upstream answered. */
  | ErrorCode;

/** Who asks, for the log. */
interface Asker {
  readonly requestId: string;
  readonly accountId: string;
  readonly model: string;
}

/** What is found of a conversation. */
interface Found {
  readonly binding: Binding | undefined;
  /** True: Redis did not say where it lives, so that other replicas may know better. */
  readonly isUnsure: boolean;
}

interface Remembered {
  readonly binding: Binding;
  readonly accountId: string;
  /** When it was last written for all replicas. */
  readonly writtenMs: number;
}

/**
 * Remembers at which upstream each conversation lives: in the process, and in notes that all processes share. A preference, never a
 * condition: health, limits and priorities decide first, and what is forgotten is chosen anew, by a hash on which all replicas agree.
 */
export class Conversations {
  private readonly keptMs: number;
  private readonly known: LRUCache<string, Remembered>;
  /** The keys of each account, the longest unused first. */
  private readonly ofAccount = new Map<string, Set<string>>();

  /** @param shared absent: this process is the only one, or there is nothing to share them through. */
  constructor(
    private readonly clock: Clock,
    minutes: number,
    private readonly shared?: SharedNotes,
  ) {
    this.keptMs = minutes * 60_000;
    this.known = lruCache<string, Remembered>(REMEMBERED_MAX, {
      ttl: this.keptMs,
      perf: { now: () => clock.elapsedMs() },
      ttlResolution: 0,
      dispose: ({ accountId }, key, reason) => {
        if (reason !== 'set') this.leave(accountId, key);
      },
    });
  }

  /**
   * The routing by the conversation that a request belongs to; undefined where there is none, or nothing to choose.
   *
   * @param candidates how many upstreams serve the model.
   */
  routingOf(asker: Asker, asked: AskedConversation, candidates: number): Promise<ConversationRouting> | undefined {
    // One upstream may be what was left of several.
    if (candidates < 2 && this.known.size === 0 && !asked.continues) return undefined;
    const found = asked.key();
    return found || asked.continues ? this.begin(asker, asked, found, candidates) : undefined;
  }

  private async begin(
    asker: Asker,
    asked: AskedConversation,
    found: ConversationKey | undefined,
    candidates: number,
  ): Promise<ConversationRouting> {
    const key = found?.key;
    const known = found?.isKnown ? await this.find(found.key, asker.accountId, candidates) : undefined;
    const nowMs = this.clock.now().getTime();
    return new ConversationRouting(
      asker,
      asked,
      { key, isKnown: found?.isKnown ?? false, binding: known?.binding, nowMs, isUnsure: known?.isUnsure === true },
      this,
    );
  }

  /**
   * Takes note of where it lives now; written for others where it changed, or half of its time is over.
   *
   * @param isUnsure others may know better, so that it stays here.
   */
  keep(key: string, accountId: string, binding: Binding, isUnsure = false): void {
    const known = this.known.get(key);
    const atMs = this.clock.elapsedMs();
    this.use(accountId, key);
    if (known && isSame(known.binding, binding) && atMs - known.writtenMs < this.keptMs / 2) return;
    this.known.set(key, { binding, accountId, writtenMs: isUnsure ? Number.NEGATIVE_INFINITY : atMs });
    if (!isUnsure) this.shared?.write(key, JSON.stringify(binding), Math.ceil(this.keptMs / 1_000));
  }

  forget(key: string): void {
    this.known.delete(key);
    this.shared?.remove(key);
  }

  close(): void {
    this.shared?.close();
  }

  /** What another replica wrote last counts; where it wrote nothing, or Redis does not say in time, what this process knows. */
  private async find(key: string, accountId: string, candidates: number): Promise<Found> {
    const note = candidates < 2 ? null : await this.shared?.read(key);
    const isUnsure = this.shared !== undefined && note === undefined;
    const shared = bindingIn(note);
    const known = this.known.get(key);
    if (!shared || (known && isSame(known.binding, shared))) return { binding: known?.binding, isUnsure };
    this.use(accountId, key);
    this.known.set(key, { binding: shared, accountId, writtenMs: Number.NEGATIVE_INFINITY });
    return { binding: shared, isUnsure };
  }

  private use(accountId: string, key: string): void {
    const keys = this.ofAccount.get(accountId) ?? new Set();
    if (keys.size === 0) this.ofAccount.set(accountId, keys);
    if (!keys.delete(key) && keys.size >= PER_ACCOUNT_MAX) {
      const [oldest] = keys;
      if (oldest !== undefined) this.known.delete(oldest);
      // The set of an account that has none left is another.
      this.ofAccount.set(accountId, keys);
    }
    keys.add(key);
  }

  private leave(accountId: string, key: string): void {
    const keys = this.ofAccount.get(accountId);
    keys?.delete(key);
    if (keys?.size === 0) this.ofAccount.delete(accountId);
  }
}

const isSame = (one: Binding, other: Binding): boolean =>
  one.upstream === other.upstream &&
  one.account === other.account &&
  one.access === other.access &&
  one.sinceMs === other.sinceMs &&
  one.provenFrom === other.provenFrom &&
  one.letsDrop === other.letsDrop;

/** A version to come may write something else. */
function bindingIn(note: string | null | undefined): Binding | undefined {
  if (note == null) return undefined;
  try {
    const read: unknown = JSON.parse(note);
    if (!isJsonObject(read)) return undefined;
    const { upstream, account, access, sinceMs, provenFrom, letsDrop } = read;
    if (typeof upstream !== 'string' || typeof account !== 'string' || typeof sinceMs !== 'number') return undefined;
    return {
      upstream,
      account,
      sinceMs,
      ...(typeof access === 'string' && { access }),
      ...(typeof provenFrom === 'string' && { provenFrom }),
      ...(letsDrop === true && { letsDrop }),
    };
  } catch {
    return undefined;
  }
}

/** What is known of a conversation before an upstream is chosen. */
interface Beginning extends Found {
  readonly key: string | undefined;
  readonly isKnown: boolean;
  readonly nowMs: number;
}

/** How one request of a conversation gets to an upstream, and what is remembered of that. */
export class ConversationRouting {
  /** Where it lives: at first as it was found, then as it was last answered. */
  private binding: Binding | undefined;
  private isCounted = false;
  /** Why its upstream does not answer. */
  private reason: MoveReason | undefined;
  /** True: no account is asked for it but the one where it lives, for what is there alone or because the operator wants it so. */
  private held = false;
  private isOneAway = false;
  private hasHome = false;

  constructor(
    private readonly asker: Asker,
    private readonly asked: AskedConversation,
    private readonly begun: Beginning,
    private readonly memory: Pick<Conversations, 'keep' | 'forget'>,
  ) {
    const { binding, nowMs } = begun;
    const { continues } = asked;
    const isElsewhere =
      continues && (binding?.upstream !== continues.upstream || binding.account !== continues.account);
    this.binding = isElsewhere ? { ...continues, sinceMs: binding?.sinceMs ?? nowMs } : binding;
  }

  /** The key of what the upstreams' places are drawn by; undefined: by chance. */
  get drawnBy(): string | undefined {
    return this.begun.isKnown ? this.begun.key : undefined;
  }

  /** True: it refers to what one account alone has, and nobody knows which: a refusal may mean no more than that it is another. */
  get isSought(): boolean {
    return !this.hasHome && this.asked.isBound();
  }

  /** True: the account that alone may answer it, or may be the one, is away. */
  get waits(): boolean {
    return this.isOneAway && (this.held || this.isSought);
  }

  /** The routes in the order to ask them: where it lives first, then where its proofs can be read. */
  order(routes: readonly TextRoute[]): readonly TextRoute[] {
    this.isOneAway = false;
    const binding = this.binding;
    if (!binding) return routes;
    const home = this.homeIn(routes);
    this.hasHome = home !== undefined;
    this.held = home !== undefined && (this.asked.isBound() || home.upstream.sticky === 'forced');
    if (!home) return this.withoutHome(routes, binding);
    if (this.held)
      return inFront(
        routes.filter(({ upstream }) => accountOf(upstream) === binding.account),
        home,
      );
    const isBelow = routes.some(({ upstream }) => upstream.priority < home.upstream.priority);
    if (isBelow && this.begun.nowMs - binding.sinceMs >= BELOW_PRIORITY_MS) {
      this.reason ??= 'priority';
      const { priority } = home.upstream;
      const better = routes.filter(({ upstream }) => upstream.priority < priority);
      return [
        ...better,
        ...inFront(
          routes.filter(({ upstream }) => upstream.priority >= priority),
          home,
        ),
      ];
    }
    return inFront(ofAccountFirst(routes, binding.account), home);
  }

  /** Names the last proof that the upstream cannot read; undefined: it may read all. */
  provenFromAt({ upstream }: TextRoute): string | undefined {
    const binding = this.binding;
    if (!binding) return undefined;
    const isSameAccount = binding.account === accountOf(upstream) && !hasChanged(binding, upstream);
    return isSameAccount ? binding.provenFrom : this.asked.lastProof();
  }

  /** Whether the upstream may drop reasoning that it does not take. */
  letsDropAt({ upstream }: TextRoute): boolean {
    return this.binding?.letsDrop === true && this.binding.upstream === upstream.provider.id;
  }

  /** An upstream did not answer. */
  missed({ upstream }: TextRoute, reason: 'cooling_down' | ErrorCode): void {
    this.isOneAway ||= reason === 'cooling_down' || ERRORS[reason].retryable;
    if (upstream.provider.id === this.binding?.upstream) this.reason ??= reason;
  }

  /**
   * An upstream began to reply.
   *
   * @param withoutProofs it refused proofs in the request, and replied to it without them.
   */
  repliedBy(route: TextRoute, withoutProofs: TextReply['withoutProofs']): void {
    const { upstream } = route;
    const { id } = upstream.provider;
    const binding = this.binding;
    const isHome = binding?.upstream === id && !hasChanged(binding, upstream);
    this.count(route, isHome);
    this.reason = undefined;
    const { key } = this.begun;
    if (key !== undefined && upstream.sticky === false && binding) this.memory.forget(key);
    if (upstream.sticky === false) return;
    const provenFrom = withoutProofs === 'left_out' ? this.asked.lastProof() : this.provenFromAt(route);
    const lives = {
      upstream: id,
      account: accountOf(upstream),
      access: upstream.access,
      sinceMs: isHome && binding ? binding.sinceMs : this.begun.nowMs,
      ...(provenFrom !== undefined && { provenFrom }),
      ...((withoutProofs === 'let_drop' || this.letsDropAt(route)) && { letsDrop: true }),
    };
    this.binding = lives;
    if (key !== undefined) this.memory.keep(key, this.asker.accountId, lives, this.begun.isUnsure);
  }

  /** Nobody replied, or the reply broke by the fault of its upstream: the next request of the conversation chooses anew. */
  lost(): void {
    const { key } = this.begun;
    if (key !== undefined && !this.held) this.memory.forget(key);
  }

  private homeIn(routes: readonly TextRoute[]): TextRoute | undefined {
    const binding = this.binding;
    return (
      binding &&
      routes.find(
        ({ upstream }) =>
          upstream.provider.id === binding.upstream &&
          accountOf(upstream) === binding.account &&
          upstream.sticky !== false &&
          !hasChanged(binding, upstream),
      )
    );
  }

  /** The one whose key is another is asked last: nothing that the conversation had is there any more. */
  private withoutHome(routes: readonly TextRoute[], binding: Binding): readonly TextRoute[] {
    const changed = routes.find(({ upstream }) => upstream.provider.id === binding.upstream);
    this.reason ??= changed ? 'changed' : 'gone';
    if (!changed) return ofAccountFirst(routes, binding.account);
    const others = routes.filter((route) => route !== changed);
    return [...ofAccountFirst(others, binding.account), changed];
  }

  private count(route: TextRoute, isHome: boolean): void {
    const { id } = route.upstream.provider;
    const binding = this.binding;
    const outcome = isHome ? 'kept' : binding ? (isVoid(this.reason) ? 'void' : 'moved') : 'new';
    // One request may be asked many times, for what its tools returned.
    if (!this.isCounted || outcome !== 'kept') signals.conversations.inc({ upstream: id, outcome });
    this.isCounted = true;
    if (binding && !isHome) this.noteMove(binding, id);
    if (this.provenFromAt(route) !== binding?.provenFrom)
      signals.proofs.inc({ upstream: id, outcome: 'withheld', reason: 'account' });
  }

  private noteMove({ upstream: from }: Binding, to: string): void {
    const { requestId, model } = this.asker;
    const reason = this.reason ?? 'gone';
    signals.conversationMoves.inc({ reason });
    const conversation = this.begun.key?.slice(0, SHOWN_CHARACTERS);
    log.info('conversation.moved', { requestId, conversation, model, from, to, reason });
  }
}

const isVoid = (reason: MoveReason | undefined): boolean => reason === 'gone' || reason === 'changed';

const accountOf = ({ vendorAccount, provider }: TextUpstream): string => vendorAccount ?? provider.id;

/** Of a stored response it is not known by which key it was written. */
const hasChanged = ({ access }: Binding, upstream: TextUpstream): boolean =>
  access !== undefined && access !== upstream.access;

const inFront = (routes: readonly TextRoute[], first: TextRoute): readonly TextRoute[] =>
  routes[0] === first ? routes : [first, ...routes.filter((route) => route !== first)];

/** Those of the account in front of others of their priority. */
function ofAccountFirst(routes: readonly TextRoute[], account: string): readonly TextRoute[] {
  const rank = ({ upstream }: TextRoute): number => (accountOf(upstream) === account ? 0 : 1);
  return routes.toSorted((one, other) => one.upstream.priority - other.upstream.priority || rank(one) - rank(other));
}
