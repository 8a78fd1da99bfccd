import type { HostedKind, RankWeights, RequestUses, SearchFilter, ToolUnit, ToolUses } from '#contracts';

interface Requested {
  /** Where it stands in the request, `tools[1]`; what stands below belongs to it. */
  readonly params: readonly string[];
}

/** A search of the account's files. */
export interface RequestedFileSearch extends Requested {
  readonly kind: 'file_search';
  /** `default`: all files of the account. */
  readonly stores: readonly string[] | 'default';
  /** Where the request names them. */
  readonly storesParam: string;
  /** The most passages of one search. */
  readonly limit: number;
  readonly filters: SearchFilter | undefined;
  readonly scoreThreshold: number | undefined;
  readonly weights: RankWeights | undefined;
}

/** A search of the web. */
export interface RequestedWebSearch extends Requested {
  readonly kind: 'web_search';
  readonly limit: number;
  readonly allowedDomains: readonly string[];
  readonly blockedDomains: readonly string[];
  /** The most searches of one request; undefined: as many as calls. */
  readonly maxUses: number | undefined;
}

/** Which calls wait for the caller's word. */
export interface ApprovalRule {
  readonly otherwise: 'always' | 'never';
  /** Names of tools that the other rule holds for. */
  readonly except: readonly string[];
  /** Whether the other rule holds for tools that say of themselves that they change nothing. */
  readonly exceptReadOnly?: boolean;
}

/** A server of tools. */
export interface RequestedMcpServer extends Requested {
  readonly kind: 'mcp';
  /** Names the server in items of the answer. */
  readonly label: string;
  readonly url: string;
  readonly token: string | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs: number;
  /** The tools that may be used; undefined: all of them. */
  readonly allowedTools: readonly string[] | undefined;
  /** True: only tools that say of themselves that they change nothing. */
  readonly readOnly: boolean;
  readonly approval: ApprovalRule;
}

/** A tool of a request that the gateway could run. */
export type RequestedTool = RequestedFileSearch | RequestedWebSearch | RequestedMcpServer;

/** Names tools in a `tool_choice`: a kind, of servers one, of a server's tools one. */
export interface HostedReference {
  readonly kind: HostedKind;
  readonly label?: string | undefined;
  readonly name?: string | undefined;
}

/** A call that the caller approved, or did not. */
export interface ApprovalAnswer {
  readonly requestId: string;
  readonly label: string;
  readonly name: string;
  readonly arguments: string;
}

/** What a style's request says of tools that the gateway runs, once they are taken out of it. */
export interface WithoutHosted<Body> {
  /** The request as it is without them; a choice of one of them is `auto`. */
  readonly body: Body;
  /** The model must call one of these. */
  readonly forced: readonly HostedReference[];
  /** Only these may be called; undefined: all. */
  readonly only: readonly HostedReference[] | undefined;
}

/** What the gateway runs of one request. */
export interface ToolPlan<Body> extends WithoutHosted<Body> {
  readonly requestedTools: readonly RequestedTool[];
  /** What is left to be allowed by an upstream. */
  readonly uses: RequestUses;
  /** The calls that the caller sets for all tools together. */
  readonly maxCalls: number | undefined;
  /** The kinds of tools whose results the answer shows. */
  readonly shownResults: readonly HostedKind[];
  readonly approvals: readonly ApprovalAnswer[];
}

/** What the loop asks of one inbound style. */
export interface HostedStyle<Body> {
  /** @throws GatewayError `invalid_parameter` for a tool of a known kind whose settings cannot be read. */
  find(body: Body): readonly RequestedTool[];
  without(body: Body, requestedTools: readonly RequestedTool[]): WithoutHosted<Body>;
  /** The calls of tools that the caller set for all kinds together; undefined: none. */
  maxCalls(body: Body): number | undefined;
  /** The kinds of tools whose results stand in the answer, so that clients send them back with it. */
  showsResults(body: Body): readonly HostedKind[];
  /** The approved calls that are still to be made. */
  approvals(body: Body): readonly ApprovalAnswer[];
}

const UNITS: Readonly<Record<HostedKind, ToolUnit>> = {
  file_search: 'file_search_call',
  web_search: 'web_search_call',
  mcp: 'mcp_call',
};

/** What a call of the kind is charged as. */
export const unitOf = (kind: HostedKind): ToolUnit => UNITS[kind];

/** The most that so many calls can be of each kind of tool, as none knows which of them are made. */
export const mostUses = (requestedTools: readonly RequestedTool[], calls: number): ToolUses =>
  Object.fromEntries(requestedTools.map(({ kind }) => [unitOf(kind), calls]));

/** Whether a field of the request belongs to the tool. */
export const belongsTo = ({ params }: RequestedTool, param: string): boolean =>
  params.some((own) => param === own || param.startsWith(`${own}.`) || param.startsWith(`${own}[`));

export const isMeant = (requested: RequestedTool, { kind, label }: HostedReference): boolean =>
  requested.kind === kind && (label === undefined || (requested.kind === 'mcp' && requested.label === label));
