import type { ResultPart, TextEvent, ToolUnit } from '#contracts';
import { abortAfter, asAbortSignal, type FairSlots } from '#platform';
import type { ClientConnection } from '../client-connection.js';
import { newTextId } from '../reply-parts.js';
import { needsApproval } from './offered-tools.js';
import { unitOf } from './requested-tools.js';
import { type HostedCall, type Outcome, refused, type ToolRunner } from './tool-runner.js';

/** The bounds of one request's tools. */
interface WorkBounds {
  readonly accountId: string;
  readonly calls: number;
  /** Longest time of all work together, in milliseconds. */
  readonly workMs: number;
}

/** The results of the calls of one round. */
interface WorkDone {
  readonly results: readonly ResultPart[];
  /** True: a call waits for the caller's word, so that the answer ends here. */
  readonly waits: boolean;
}

/** Whose bill the calls stand on. */
interface UsesPayer {
  used(unit: ToolUnit): void;
}

/** One call under way: the steps that show it, and its result. */
interface Job {
  readonly call: HostedCall;
  readonly begun: ReturnType<ToolRunner['begun']>;
  readonly outcome: Promise<Outcome>;
}

/** Runs the calls that the rounds of one request make, all of a round at once, within the bounds of the request. */
export class ToolWork {
  private calls = 0;
  private searches = 0;
  private spentMs = 0;

  constructor(
    private readonly runner: ToolRunner,
    private readonly slots: FairSlots,
    private readonly bounds: WorkBounds,
    private readonly caller: ClientConnection,
  ) {}

  /** True: no further call will be run. */
  get isSpent(): boolean {
    return this.calls >= this.bounds.calls || this.spentMs >= this.bounds.workMs;
  }

  /** How many calls may still be run. */
  get callsLeft(): number {
    return Math.max(0, this.bounds.calls - this.calls);
  }

  /**
   * Does something for each item with the time that is left, within the share of the account; for work that is no call of
   * the model's. The first that fails stops the others.
   */
  async all<Item, Result>(
    items: readonly Item[],
    work: (item: Item, signal: AbortSignal) => Promise<Result>,
  ): Promise<readonly Result[]> {
    const began = performance.now();
    const failed = new AbortController();
    const signal = AbortSignal.any([this.signal(), failed.signal]);
    const run = (item: Item): Promise<Result> =>
      this.slots.run(this.bounds.accountId, () => work(item, signal), signal);
    try {
      return await Promise.all(items.map(run));
    } catch (error) {
      failed.abort(error);
      throw error;
    } finally {
      this.spentMs += performance.now() - began;
    }
  }

  /** Whether the caller can be asked, and wants to be, before a call is run. */
  private waits({ offered }: HostedCall): boolean {
    return offered.kind === 'mcp' && needsApproval(offered.requested, offered.listed);
  }

  /** The calls of one round: each is announced when it begins and when it is over, in the order in which the model made them. */
  async *run(calls: readonly HostedCall[], payer: UsesPayer): AsyncGenerator<readonly TextEvent[], WorkDone> {
    const waiting = calls.filter((call) => this.waits(call));
    const began = performance.now();
    const signal = this.signal();
    const jobs = calls.filter((call) => !this.waits(call)).map((call) => this.begin(call, payer, signal));
    const results: ResultPart[] = [];
    for (const { call, begun, outcome } of jobs) {
      yield [{ type: 'step', state: 'begun', step: begun }];
      const { step, content, isError } = await outcome;
      yield [{ type: 'step', state: 'done', step }];
      results.push({ type: 'result', callId: call.id, name: call.offered.tool.name, content, isError });
    }
    this.spentMs += performance.now() - began;
    for (const call of waiting) yield [approvalStep(call)];
    return { results, waits: waiting.length > 0 };
  }

  /** A call that the caller approved in an earlier request. */
  async runApproved(call: HostedCall, approvalId: string, payer: UsesPayer): Promise<Outcome> {
    const { outcome } = this.begin(call, payer, this.signal(), approvalId);
    return outcome;
  }

  private begin(call: HostedCall, payer: UsesPayer, signal: AbortSignal, approvalId?: string): Job {
    const begun = this.runner.begun(call, approvalId);
    const refusal = this.refusalFor(call);
    if (refusal !== undefined) return { call, begun, outcome: Promise.resolve(refused(begun, refusal)) };
    this.calls += 1;
    if (call.offered.kind === 'web_search') this.searches += 1;
    const unit = unitOf(call.offered.kind);
    const run = (): Promise<Outcome> => {
      payer.used(unit);
      return this.runner.run(call, begun, signal);
    };
    const outcome = this.slots
      .run(this.bounds.accountId, run, signal)
      .catch(() => refused(begun, 'The tool was not run: too many of this account are running.'));
    return { call, begun, outcome };
  }

  /** Why a call is not run; undefined for one that may be. */
  private refusalFor({ offered }: HostedCall): string | undefined {
    const { calls, workMs } = this.bounds;
    if (this.calls >= calls)
      return `The tool was not run: a request may make ${calls} calls. Answer with what there is.`;
    if (this.spentMs >= workMs)
      return `The tool was not run: tools may work for ${workMs / 1000} s in one request. Answer with what there is.`;
    const most = offered.kind === 'web_search' ? offered.requested.maxUses : undefined;
    if (most !== undefined && this.searches >= most)
      return `The search was not made: the request allows ${most}. Answer with what there is.`;
    return undefined;
  }

  private signal(): AbortSignal {
    const gone = AbortSignal.any([asAbortSignal(this.caller.signal), this.caller.left]);
    return abortAfter(Math.max(1, this.bounds.workMs - this.spentMs), gone);
  }
}

function approvalStep({ offered, arguments: json }: HostedCall): TextEvent {
  const server = offered.kind === 'mcp' ? offered.requested.label : '';
  const name = offered.kind === 'mcp' ? offered.listed.name : offered.tool.name;
  const id = newTextId('mcpr_gw');
  const step = { type: 'mcp_approval' as const, id, server, name, arguments: json === '' ? '{}' : json };
  return { type: 'step', state: 'done', step };
}
