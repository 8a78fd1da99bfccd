import { GatewayError, type HostedKind, type RequestUses, type TextStyle, type ToolUses } from '#contracts';
import type { SafeFetcher } from '#platform';
import { type ModelLimits, type OpenTools, sandboxSearch, type WebSearch } from '#providers';
import type { CallerPresence } from '../caller-presence.js';
import type { InputEstimate } from '../estimate-tokens.js';
import type { TextOrder } from '../text-order.js';
import type { RoutedReply, TextRouter } from '../text-router.js';
import type { TextUpstreams } from '../../upstreams/text-upstreams.js';
import { belongsTo, mostUses, type RequestedTool, type WithoutHosted } from './requested-tools.js';
import { hostedStyle } from './hosted-styles.js';
import { LoopExchange, type LoopFacts } from './loop-exchange.js';
import { McpServers } from './mcp-servers.js';
import { McpToolLists } from './mcp-tool-lists.js';
import type { PassageSearch } from './passage-search.js';
import { Sources } from './sources.js';
import type { LoopOrder } from './loop-order.js';
import { ToolLoop } from './tool-loop.js';
import { ToolRunner } from './tool-runner.js';
import { ToolShares } from './tool-shares.js';
import { ToolWork } from './tool-work.js';

/** What the gateway runs of one request. */
export interface ToolPlan<Body> extends WithoutHosted<Body> {
  readonly requestedTools: readonly RequestedTool[];
  /** What is left to be allowed by an upstream. */
  readonly uses: RequestUses;
  /** The calls that the caller sets for all tools together. */
  readonly maxCalls: number | undefined;
  /** The kinds of tools whose results the answer shows. */
  readonly shownResults: readonly HostedKind[];
  readonly approvals: LoopOrder['approvals'];
}

/** The parts of hosted tools. */
export interface HostedToolsParts {
  readonly open: OpenTools;
  readonly fetcher: SafeFetcher;
  readonly upstreams: TextUpstreams;
  readonly router: TextRouter;
  readonly passages: PassageSearch;
}

/** A planned request with what is known of it, and what it is paid with. */
export interface PlannedOrder<Body> extends Pick<LoopFacts, 'billing' | 'settlements' | 'counter'> {
  readonly order: TextOrder<Body>;
  readonly plan: ToolPlan<Body>;
  readonly stream: boolean;
  readonly input: InputEstimate;
  readonly modelLimits: ModelLimits;
  readonly outputLimit: number | undefined;
  readonly outputTokens: number;
  readonly leastOutputTokens: number;
  readonly outputBeside: number;
}

/** The most servers of tools that a request may name, and the most searches. */
const MOST_TOOLS = 16;

/** A loop and its money; nothing is held or asked yet. */
export interface BegunLoop {
  readonly exchange: LoopExchange;
  readonly open: () => Promise<RoutedReply>;
}

/** Tools that the gateway runs itself, where the upstream does not: file search, search of the web, servers of tools. */
export class HostedTools {
  readonly #parts: HostedToolsParts;
  readonly #lists = new McpToolLists();
  readonly #shares: ToolShares;

  constructor(parts: HostedToolsParts) {
    this.#parts = parts;
    this.#shares = new ToolShares(parts.open.limits.atOncePerAccount);
  }

  /**
   * What of a request the gateway runs; undefined for nothing, so that the request continues as it is.
   *
   * @throws GatewayError `invalid_parameter` for a tool whose settings cannot be read, or one too many.
   */
  plan<Body>(style: TextStyle, body: Body, uses: RequestUses, model: string): ToolPlan<Body> | undefined {
    if (!uses.unpriced.some(({ kind, name }) => kind === 'tools' || name === 'web_search_options')) return undefined;
    const hosted = hostedStyle<Body>(style);
    const { upstreams, open } = this.#parts;
    const requestedTools = hosted.find(body).filter(({ kind }) => this.#canRun(kind, model));
    if (requestedTools.length === 0) return undefined;
    if (open.prefersUpstream && upstreams.runsNatively(model, uses.unpriced, style)) return undefined;
    expectFew(requestedTools);
    const unpriced = uses.unpriced.filter(
      ({ param }) => !requestedTools.some((requested) => belongsTo(requested, param)),
    );
    return {
      ...hosted.without(body, requestedTools),
      requestedTools: style === 'responses' ? requestedTools : requestedTools.map(withoutApproval),
      uses: { ...uses, unpriced },
      maxCalls: hosted.maxCalls(body),
      shownResults: hosted.showsResults(body),
      approvals: hosted.approvals(body),
    };
  }

  /** The most calls that the first round may make of each kind of tool. */
  firstCalls({ requestedTools, maxCalls }: ToolPlan<unknown>): ToolUses {
    const { calls } = this.#parts.open.limits;
    return mostUses(requestedTools, Math.min(calls, maxCalls ?? calls));
  }

  /** @throws GatewayError `not_found` for a vector store that the account does not have, naming its place. */
  async expectStores({ requestedTools }: ToolPlan<unknown>, accountId: string): Promise<void> {
    for (const requested of requestedTools)
      if (requested.kind === 'file_search' && requested.stores !== 'default')
        await this.#parts.passages.expectStores(accountId, requested.stores, requested.storesParam);
  }

  /** @throws GatewayError `unsupported_parameter` for what no other protocol can say. */
  begin<Body>(planned: PlannedOrder<Body>, caller: CallerPresence): BegunLoop {
    const { open, fetcher, router, passages } = this.#parts;
    const { order, plan, billing, settlements, counter } = planned;
    const { requestId, idempotencyKey, model, codec } = order;
    const { accountId, apiKeyId } = order.caller;
    const exchange = new LoopExchange({
      requestId,
      idempotencyKey,
      accountId,
      apiKeyId,
      model,
      billing,
      settlements,
      counter,
    });
    const { limits } = open;
    const bounds = { lifetimeMs: 2 * limits.workMs, reserve: order.reserve };
    const servers = new McpServers(fetcher, accountId, this.#lists, bounds);
    const sources = new Sources();
    const payer = { accountId, apiKeyId, requestId };
    const runner = new ToolRunner({ ...payer, passages, web: this.#webSearch(model), servers, sources });
    const calls = Math.min(limits.calls, plan.maxCalls ?? limits.calls);
    const work = new ToolWork(runner, this.#shares, { accountId, calls, workMs: limits.workMs }, caller);
    const loopOrder: LoopOrder = {
      accountId,
      style: codec.style,
      shownResults: plan.shownResults,
      stream: planned.stream,
      model,
      request: codec.read(plan.body, model, planned.stream),
      requestedTools: plan.requestedTools,
      forced: plan.forced,
      only: plan.only,
      approvals: plan.approvals,
      unpriced: plan.uses.unpriced,
      outputLimit: planned.outputLimit,
      wantedOutput: planned.outputTokens,
      leastOutput: planned.leastOutputTokens,
      outputBeside: planned.outputBeside,
      input: {
        tokens: planned.input.heldTokens,
        most: planned.input.mostTokens,
        hasFiles: planned.input.hasFiles,
      },
      modelLimits: planned.modelLimits,
      maxRounds: limits.rounds,
      maxTokens: limits.tokens,
    };
    const loop = new ToolLoop({ order: loopOrder, exchange, router, work, servers, sources, caller });
    return { exchange, open: () => loop.open() };
  }

  /** Ends the connections to the search engine. */
  async close(): Promise<void> {
    await this.#parts.open.webSearch?.close();
  }

  #canRun(kind: HostedKind, model: string): boolean {
    return kind !== 'web_search' || this.#webSearch(model) !== undefined;
  }

  /** What the sandbox answers with nothing set up needs no engine. */
  #webSearch(model: string): WebSearch | undefined {
    const { open, upstreams } = this.#parts;
    return open.webSearch ?? (upstreams.isSandboxAlone(model) ? sandboxSearch : undefined);
  }
}

/** @throws GatewayError `invalid_parameter` naming the first tool beyond the most. */
function expectFew(requestedTools: readonly RequestedTool[]): void {
  const servers = requestedTools.filter(({ kind }) => kind === 'mcp');
  const searches = requestedTools.filter(({ kind }) => kind !== 'mcp');
  const [beyond, what] = servers[MOST_TOOLS]
    ? [servers[MOST_TOOLS], 'servers of tools']
    : [searches[MOST_TOOLS], 'searches'];
  if (!beyond) return;
  const [param = 'tools'] = beyond.params;
  throw new GatewayError('invalid_parameter', `${param}: a request may have at most ${MOST_TOOLS} ${what}.`, { param });
}

/** Only the responses style has a way to ask. */
const withoutApproval = (requested: RequestedTool): RequestedTool =>
  requested.kind === 'mcp' ? { ...requested, approval: { otherwise: 'never', except: [] } } : requested;
