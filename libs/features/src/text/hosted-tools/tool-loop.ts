import {
  type AssistantPart,
  type FinishEvent,
  type FinishReason,
  GatewayError,
  type ResultPart,
  type TextEvent,
  type TextReply,
  type TextRequest,
  type TextUsage,
  type Turn,
} from '#contracts';
import { leastOutputLimit } from '#providers';
import type { RoutableCall, RoutedReply } from '../text-router.js';
import { isOpenEnded } from '../text-metering.js';
import { carriedResults } from './carried-results.js';
import { CitedText } from './cited-text.js';
import { type Round, sumOf } from './loop-metering.js';
import { type LoopParts, openingOf } from './loop-opening.js';
import type { OfferedTool } from './offered-tools.js';
import { mostUses } from './requested-tools.js';
import { type LoopInput, nextInput, RoundReply } from './round.js';

/** One open round: the request, and the upstream's reply. */
interface OpenRound {
  readonly request: TextRequest;
  readonly round: Round;
  readonly routed: RoutedReply;
}

/**
 * Asks the model, runs the tools that it calls, sends it their results, and asks again, until it answers, calls a
 * function of the caller's, or a bound is reached. To its caller it is one reply.
 */
export class ToolLoop {
  private readonly cited: CitedText;
  private offered: ReadonlyMap<string, OfferedTool> = new Map();
  private input: LoopInput;
  private rounds = 0;
  private usage: TextUsage | undefined;
  /** What the model said in the rounds before, and what its calls of the gateway's tools came to. */
  private readonly before: { readonly parts: AssistantPart[]; readonly results: ResultPart[] } = {
    parts: [],
    results: [],
  };
  private routed: RoutedReply | undefined;

  constructor(private readonly parts: LoopParts) {
    this.input = parts.order.input;
    this.cited = new CitedText(parts.sources);
  }

  /**
   * Lists the tools of servers, makes the calls that were approved, and asks the model for the first time.
   *
   * @throws GatewayError as `openingOf`, `TextRouter.call` and `TextBilling.hold`.
   */
  async open(): Promise<RoutedReply> {
    try {
      const { request, offered, input, events } = await openingOf(this.parts);
      this.offered = offered;
      this.input = input;
      const open = await this.ask(request);
      const { upstreamId, vendorAccount, toolsLeftOut, reply } = open.routed;
      const { upstreamRequestId } = reply;
      const { withoutProofs } = reply;
      const identity = {
        ...(upstreamRequestId !== undefined && { upstreamRequestId }),
        ...(withoutProofs && { withoutProofs }),
      };
      return {
        reply: { kind: 'events', events: this.events(events, open), ...identity },
        upstreamId,
        vendorAccount,
        toolsLeftOut,
        ended: (failure) => this.routed?.ended(failure),
      };
    } catch (error) {
      this.parts.servers.close();
      throw error;
    }
  }

  /** Holds what the round may cost, and finds an upstream for it. */
  private async ask(request: TextRequest): Promise<OpenRound> {
    const { order, metering, router, client } = this.parts;
    const used = this.usage?.outputTokens ?? 0;
    const left = order.outputLimit === undefined ? undefined : order.outputLimit - used;
    // As much as is sent where an upstream takes no lower limit.
    const heldFor = left === undefined ? undefined : Math.max(left, leastOutputLimit('responses'));
    this.rounds += 1;
    const limited: { request: TextRequest } = { request };
    const round = await metering.open({
      request: () => limited.request,
      inputTokens: this.input.tokens,
      mostInputTokens: this.input.most,
      hasFiles: this.input.hasFiles,
      outputTokens: order.outputBeside + (heldFor ?? order.wantedOutput),
      leastOutputTokens: order.outputBeside + (heldFor ?? order.leastOutput),
      tools: this.mostUses(),
      limits: order.modelLimits,
      unpriced: order.unpriced,
      isOpenEnded: isOpenEnded({ unpriced: order.unpriced, unknownFields: [] }),
    });
    limited.request = { ...request, maxOutputTokens: left ?? round.coveredTokens - order.outputBeside };
    const call: RoutableCall = {
      requestId: round.requestId,
      accountId: order.accountId,
      priceList: order.priceList,
      maxTokens: limited.request.maxOutputTokens,
      style: order.style,
      stream: order.stream,
      model: order.model,
      request: () => {
        client.ask();
        round.isAsked = true;
        return limited.request;
      },
      native: () => {
        throw new Error('a request with tools of the gateway does not pass through');
      },
      isTranslated: true,
      headers: {},
      unpriced: order.unpriced,
      // Its proofs of reasoning, and what it keeps of the conversation, are worth something there alone.
      goesOnAfter: this.routed,
      conversation: this.routed ? undefined : order.conversation,
      cacheKey: () => order.conversation.key()?.key,
      onReply: (progress) => round.metering.follow(progress),
    };
    const routed = await router.call(call, client.signal).catch((error: unknown) => {
      // Upstreams refused, or broke what nobody has had a word of: free, as of a single call, whoever has left meanwhile.
      if (error !== client.signal.reason) round.isAsked = false;
      throw error;
    });
    metering.repliedBy(routed.upstreamId, routed.reply.upstreamRequestId, routed.costs, routed.vendorCall);
    this.routed = routed;
    return { request, round, routed };
  }

  /** The dearest that the calls of one round may be. */
  private mostUses() {
    const { work, order } = this.parts;
    return { ...(this.rounds > 1 && { tool_round: 1 }), ...mostUses(order.requestedTools, work.callsLeft) };
  }

  private async *events(opening: readonly TextEvent[], first: OpenRound): AsyncGenerator<readonly TextEvent[]> {
    try {
      if (opening.length > 0) yield opening;
      let open: OpenRound | undefined = first;
      while (open) open = yield* this.round(open);
    } finally {
      this.parts.servers.close();
    }
  }

  /** One round to its end, with its tools; answers the next one, or nothing when the reply is over. */
  private async *round({
    request,
    round,
    routed,
  }: OpenRound): AsyncGenerator<readonly TextEvent[], OpenRound | undefined> {
    const { metering, work, client, order } = this.parts;
    const reply = new RoundReply({
      offered: this.offered,
      cited: this.cited,
      round,
      isFirst: this.rounds === 1,
    });
    for await (const batch of batchesOf(routed.reply)) {
      const events = reply.take(batch);
      if (events.length > 0) yield events;
    }
    const { finish } = reply;
    round.usage = await round.metering.usageOf(finish.usage, round.produced);
    this.usage = sumOf(this.usage, round.usage);
    const isOver = CUT_OFF.has(finish.reason) || !client.isServed || this.rounds >= order.maxRounds;
    const calls = isOver ? [] : reply.hostedCalls;
    const { results, waits } = yield* work.run(calls, round);
    const last = this.lastReason(finish, reply, waits);
    if (last !== undefined) {
      const carried = reply.hasClientCalls ? this.carried(reply.parts, results) : undefined;
      if (carried !== undefined) yield [{ type: 'signature', signature: carried }];
      // It is settled with the whole reply, which nobody may be able to read.
      yield [{ ...finish, reason: last, usage: this.usage }];
      return undefined;
    }
    metering.endRound(client.hasLeft ? 'aborted' : 'completed');
    const turns: Turn[] = [
      { role: 'assistant', parts: reply.parts },
      { role: 'user', parts: results },
    ];
    this.before.parts.push(...reply.parts);
    this.before.results.push(...results);
    this.input = nextInput(this.input, round.usage, turns, order.modelLimits);
    if (this.isBeyond()) {
      yield [{ type: 'finish', reason: 'tool-limit', usage: this.usage }];
      return undefined;
    }
    routed.ended();
    return this.ask(this.nextRequest(request, turns));
  }

  /** What no item of the answer shows of the tools of all rounds: its caller goes on behind a call, and the model with it. */
  private carried(parts: readonly AssistantPart[], results: readonly ResultPart[]): string | undefined {
    const { shownResults } = this.parts.order;
    const isHidden = ({ name }: ResultPart): boolean => {
      const kind = this.offered.get(name)?.kind;
      return kind !== undefined && !shownResults.includes(kind);
    };
    const all = [...this.before.results, ...results].filter(isHidden);
    return carriedResults([...this.before.parts, ...parts], all);
  }

  /** How the reply ends with this round; undefined: it does not. */
  private lastReason({ reason }: FinishEvent, reply: RoundReply, waits: boolean): FinishReason | undefined {
    if (CUT_OFF.has(reason)) return reason;
    if (reply.hasClientCalls) return 'tool-calls';
    if (waits || !this.parts.client.isServed) return 'stop';
    if (reply.hostedCalls.length === 0) return reason === 'tool-calls' ? 'stop' : reason;
    return this.rounds >= this.parts.order.maxRounds ? 'tool-limit' : undefined;
  }

  private isBeyond(): boolean {
    const { maxTokens, outputLimit } = this.parts.order;
    const { inputTokens = 0, outputTokens = 0 } = this.usage ?? {};
    if (outputLimit !== undefined && outputTokens >= outputLimit) return true;
    return inputTokens + outputTokens + this.input.tokens > maxTokens;
  }

  /** The model need not call again what it was made to call; in its last round it may call nothing of the gateway's. */
  private nextRequest(request: TextRequest, turns: readonly Turn[]): TextRequest {
    const { order, work } = this.parts;
    const isLast = work.isSpent || this.rounds + 1 >= order.maxRounds;
    const mode = isLast && order.request.tools.length === 0 ? 'none' : 'auto';
    return { ...request, turns: [...request.turns, ...turns], toolChoice: { mode } };
  }
}

/** Ends of a reply that leave its last call unfinished. */
const CUT_OFF: ReadonlySet<FinishReason> = new Set(['length', 'content-filter']);

async function* batchesOf(reply: TextReply): AsyncGenerator<readonly TextEvent[]> {
  if (reply.kind === 'whole') yield reply.events;
  else if (reply.kind === 'events') yield* reply.events;
  else throw new GatewayError('upstream_error', 'The upstream replied in a form that was not asked for.');
}
