import {
  type ChatRequest,
  type ChatTool,
  GatewayError,
  type HostedKind,
  isJsonObject,
  type RequestUses,
  type TextStyle,
  type ToolUses,
} from '#contracts';
import { FairSlots, type SafeFetcher } from '#platform';
import { type OpenTools, sandboxSearch, type WebSearch } from '#providers';
import type { TextUpstreams } from '../../upstreams/text-upstreams.js';
import { asJson } from '../json-object.js';
import type { TextRequestContext } from '../text-request.js';
import type { TextRouter } from '../text-router.js';
import { Sources } from './cited-text.js';
import { geminiHosted } from './gemini-hosted.js';
import { type LoopFacts, ToolLoopMetering } from './loop-metering.js';
import type { LoopOrder } from './loop-opening.js';
import { McpServers, McpToolLists } from './mcp-servers.js';
import { messagesHosted } from './messages-hosted.js';
import {
  belongsTo,
  type HostedStyle,
  mostUses,
  readWebSearch,
  type RequestedTool,
  type ToolPlan,
  wrong,
} from './requested-tools.js';
import { responsesHosted, splitChoice, toolsListed, withoutListed, withOwnLabels } from './responses-hosted.js';
import { ToolLoop } from './tool-loop.js';
import { type PassageSearch, ToolRunner } from './tool-runner.js';
import { ToolWork } from './tool-work.js';

const SEARCH = 'web_search_options';

/** Chat completions has no item in which a call could wait for the caller. */
function expectNoApproval(requested: RequestedTool, index: number, tools: readonly object[]): RequestedTool {
  if (requested.kind !== 'mcp') return requested;
  const { require_approval: asked }: { require_approval?: unknown } = tools[index] ?? {};
  if (asked != null && asked !== 'never')
    throw wrong(`tools[${index}].require_approval`, '"never" here: POST /v1/responses can ask for approval');
  return { ...requested, approval: { otherwise: 'never', except: [] } };
}

function find({ tools, [SEARCH]: options }: ChatRequest & { readonly [SEARCH]?: unknown }): readonly RequestedTool[] {
  const sent = tools ?? [];
  const requestedTools = toolsListed(sent).map((requested) => {
    const index = Number(/\d+/.exec(requested.params[0] ?? '')?.[0]);
    return expectNoApproval(requested, index, sent);
  });
  const search = isJsonObject(options) ? [readWebSearch(asJson(options), SEARCH)] : [];
  return withOwnLabels([...requestedTools, ...search]);
}

/** Chat completions: `web_search_options`, and the tools of the responses style as they are there. */
const chatHosted: HostedStyle<ChatRequest> = {
  find,
  without: (body, requestedTools) => {
    const { choice, forced, only } = splitChoice(body.tool_choice);
    const { tools: _tools, tool_choice: _choice, [SEARCH]: options, ...rest } = body;
    const tools: ChatTool[] | undefined = withoutListed(body.tools, requestedTools);
    const isTaken = requestedTools.some(({ params }) => params.includes(SEARCH));
    const stripped = {
      ...rest,
      ...(tools && { tools }),
      ...(choice != null && { tool_choice: choice }),
      ...(options !== undefined && !isTaken && { [SEARCH]: options }),
    };
    return { body: stripped as ChatRequest, forced, only };
  },
  maxCalls: () => undefined,
  showsResults: () => [],
  approvals: () => [],
};

const HOSTED_STYLES = {
  responses: responsesHosted,
  messages: messagesHosted,
  gemini: geminiHosted,
  chat: chatHosted,
} as const;

/** How a style names the tools that the gateway can run. The body is one of that style. */
const hostedStyle = <Body>(style: TextStyle): HostedStyle<Body> => HOSTED_STYLES[style] as unknown as HostedStyle<Body>;

export interface HostedToolsParts {
  readonly open: OpenTools;
  readonly fetcher: SafeFetcher;
  readonly upstreams: TextUpstreams;
  readonly router: TextRouter;
  readonly passages: PassageSearch;
}

/** The most servers of tools that a request may name, and the most searches. */
const MOST_TOOLS = 16;

/** The model that is asked, and the price list of the account; undefined: the book. */
interface AskedModel {
  readonly model: string;
  readonly priceList: string | undefined;
}

/** A loop and its money; nothing is held or asked yet. */
export interface BegunLoop {
  readonly metering: ToolLoopMetering;
  readonly loop: ToolLoop;
}

/** Tools that the gateway runs itself, where the upstream does not: file search, search of the web, servers of tools. */
export class HostedTools {
  private readonly lists = new McpToolLists();
  /** So that an account whose servers hang does not hold what others need. What finds none waits as long as it may work. */
  private readonly slots: FairSlots;

  constructor(private readonly parts: HostedToolsParts) {
    const { atOncePerAccount, workMs } = parts.open.limits;
    this.slots = new FairSlots({
      most: Number.POSITIVE_INFINITY,
      mostPerShare: atOncePerAccount,
      mostWaitingPerShare: Number.POSITIVE_INFINITY,
      waitMs: workMs,
    });
  }

  /**
   * What of a request the gateway runs; undefined for nothing, so that the request continues as it is.
   *
   * @throws GatewayError `invalid_parameter` for a tool whose settings cannot be read, or one too many.
   */
  plan<Body>(style: TextStyle, body: Body, uses: RequestUses, asked: AskedModel): ToolPlan<Body> | undefined {
    if (!uses.unpriced.some(({ kind, name }) => kind === 'tools' || name === 'web_search_options')) return undefined;
    const hosted = hostedStyle<Body>(style);
    const { upstreams, open } = this.parts;
    const requestedTools = hosted.find(body).filter(({ kind }) => this.canRun(kind, asked));
    if (requestedTools.length === 0) return undefined;
    if (open.prefersUpstream && upstreams.runsNatively(asked.model, uses.unpriced, style, asked.priceList))
      return undefined;
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
    const { calls } = this.parts.open.limits;
    return mostUses(requestedTools, Math.min(calls, maxCalls ?? calls));
  }

  /** @throws GatewayError `not_found` for a vector store that the account does not have, naming its place. */
  async expectStores({ requestedTools }: ToolPlan<unknown>, accountId: string): Promise<void> {
    for (const requested of requestedTools)
      if (requested.kind === 'file_search' && requested.stores !== 'default')
        await this.parts.passages.expectStores(accountId, requested.stores, requested.storesParam);
  }

  /** @throws GatewayError `unsupported_parameter` for what no other protocol can say. */
  begin<Body>(
    request: TextRequestContext<Body>,
    plan: ToolPlan<Body>,
    money: Pick<LoopFacts, 'billing' | 'settlements' | 'counter'>,
  ): BegunLoop {
    const { open, fetcher, router, passages } = this.parts;
    const { checked, origin, input, output, limits: modelLimits } = request;
    const { codec, model, stream } = checked;
    const { requestId, idempotencyKey, client, reserve, attribution } = origin;
    const { accountId, apiKeyId, priceList } = origin.caller;
    const metering = new ToolLoopMetering({
      requestId,
      idempotencyKey,
      accountId,
      apiKeyId,
      priceList,
      model,
      attribution,
      isStreamed: stream,
      ...money,
    });
    const { limits } = open;
    const bounds = { lifetimeMs: 2 * limits.workMs, reserve };
    const servers = new McpServers(fetcher, accountId, this.lists, bounds);
    const sources = new Sources();
    const payer = { accountId, apiKeyId, requestId };
    const runner = new ToolRunner({
      ...payer,
      passages,
      web: this.webSearch({ model, priceList }),
      servers,
      sources,
    });
    const calls = Math.min(limits.calls, plan.maxCalls ?? limits.calls);
    const work = new ToolWork(runner, this.slots, { accountId, calls, workMs: limits.workMs }, client);
    const order: LoopOrder = {
      accountId,
      priceList,
      conversation: request.conversation(),
      style: codec.style,
      shownResults: plan.shownResults,
      stream,
      model,
      request: request.asked(),
      requestedTools: plan.requestedTools,
      forced: plan.forced,
      only: plan.only,
      approvals: plan.approvals,
      unpriced: plan.uses.unpriced,
      outputLimit: output.limit,
      wantedOutput: output.most,
      leastOutput: output.least,
      outputBeside: output.beside,
      input: { tokens: input.heldTokens, most: input.mostTokens, hasFiles: input.hasFiles },
      modelLimits,
      maxRounds: limits.rounds,
      maxTokens: limits.tokens,
    };
    return { metering, loop: new ToolLoop({ order, metering, router, work, servers, sources, client }) };
  }

  /** Ends the connections to the search engine. */
  async close(): Promise<void> {
    await this.parts.open.webSearch?.close();
  }

  private canRun(kind: HostedKind, asked: AskedModel): boolean {
    return kind !== 'web_search' || this.webSearch(asked) !== undefined;
  }

  /** What the sandbox answers with nothing set up needs no engine. */
  private webSearch({ model, priceList }: AskedModel): WebSearch | undefined {
    const { open, upstreams } = this.parts;
    return open.webSearch ?? (upstreams.isSandboxAlone(model, priceList) ? sandboxSearch : undefined);
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
