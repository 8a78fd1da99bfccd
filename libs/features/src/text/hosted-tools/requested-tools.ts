import {
  GatewayError,
  type HostedKind,
  isIdentifier,
  isJsonObject,
  isParsableUrl,
  type JsonObject,
  type RankWeights,
  readRankWeights,
  readSearchFilter,
  type RequestUses,
  type SearchFilter,
  toolName,
  type ToolUnit,
  type ToolUses,
} from '#contracts';

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

export interface RequestedWebSearch extends Requested {
  readonly kind: 'web_search';
  readonly limit: number;
  readonly allowedDomains: readonly string[];
  readonly blockedDomains: readonly string[];
  /** The most searches of one request; undefined: as many as calls. */
  readonly maxUses: number | undefined;
}

/** Which calls wait for the caller's word. */
interface ApprovalRule {
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

export const PASSAGES = 10;
const PAGES = 5;
const MOST_FOUND = 50;

/** How long a server of tools may take when the request does not say, in seconds, and whatever it says (docs/api/tools.md). */
const MCP_SECONDS = 30;
const MOST_MCP_SECONDS = 600;

const LABEL = /^[\w.-]{1,64}$/;
const TOKEN = /^[\x20-\x7e]{1,8192}$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;

/** Headers that belong to the connection, or to the protocol that is spoken over it. */
const OWN_HEADERS =
  /^(host|connection|content-length|content-type|transfer-encoding|te|trailer|upgrade|expect|accept|accept-encoding|keep-alive|proxy-.*|mcp-.*|last-event-id)$/i;

export const wrong = (param: string, rule: string): GatewayError => GatewayError.ofField(param, `must be ${rule}`);

/** A list of texts, empty when it is left out. */
export function textsIn(value: unknown, param: string): readonly string[] {
  if (value === undefined || value === null) return [];
  if (
    Array.isArray(value) &&
    value.length <= 1_000 &&
    value.every((entry) => typeof entry === 'string' && entry !== '')
  )
    return value as string[];
  throw wrong(param, 'a list of texts');
}

export function wholeIn(value: unknown, param: string, most: number): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw wrong(param, `a whole number from 1 to ${most}`);
}

function objectIn(value: unknown, param: string): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  if (isJsonObject(value)) return value as JsonObject;
  throw wrong(param, 'a JSON object');
}

/**
 * A tool in the form of the responses style, which other styles take as well.
 *
 * @returns undefined for one that the gateway does not know.
 */
export function readHostedTool(tool: JsonObject, param: string): RequestedTool | undefined {
  const type = tool['type'];
  if (type === 'remote_mcp') return readRemoteMcp(tool, param);
  switch (typeof type === 'string' ? toolName(type) : undefined) {
    case 'file_search':
      return readFileSearch(tool, param);
    case 'web_search':
    case 'web_search_preview':
      return readWebSearch(tool, param);
    case 'mcp':
      return readMcp(tool, param);
    default:
      return undefined;
  }
}

function readFileSearch(tool: JsonObject, param: string): RequestedFileSearch {
  const ranking = objectIn(tool['ranking_options'], `${param}.ranking_options`);
  const threshold = ranking?.['score_threshold'];
  if (
    threshold !== undefined &&
    threshold !== null &&
    !(typeof threshold === 'number' && threshold >= 0 && threshold <= 1)
  )
    throw wrong(`${param}.ranking_options.score_threshold`, 'a number from 0 to 1');
  return {
    kind: 'file_search',
    params: [param],
    stores: storesIn(tool['vector_store_ids'], `${param}.vector_store_ids`),
    storesParam: `${param}.vector_store_ids`,
    limit: wholeIn(tool['max_num_results'], `${param}.max_num_results`, MOST_FOUND) ?? PASSAGES,
    filters: tool['filters'] == null ? undefined : readSearchFilter(tool['filters'], `${param}.filters`),
    scoreThreshold: threshold ?? undefined,
    weights: readRankWeights(ranking?.['hybrid_search'], `${param}.ranking_options.hybrid_search`),
  };
}

/** The most vector stores that one tool searches. */
const STORES_MAX = 16;

/** The vector stores of a tool, with each name read as `idOf` says; without any, all files of the account. */
export function storesIn(
  sent: unknown,
  param: string,
  idOf: (name: string) => string = (name) => name,
): RequestedFileSearch['stores'] {
  const stores = textsIn(sent, param).map(idOf);
  if (stores.length > STORES_MAX) throw wrong(param, `a list of at most ${STORES_MAX} vector stores`);
  const strange = stores.findIndex((store) => !isIdentifier(store));
  if (strange !== -1) throw wrong(`${param}[${strange}]`, 'the id of a vector store');
  return stores.length === 0 ? 'default' : stores;
}

const SIZES: Readonly<Record<string, number>> = { low: 3, medium: PAGES, high: 10 };

/** Both vendors' forms: `filters.allowed_domains` of the one, `allowed_domains` and `max_uses` of the other. */
export function readWebSearch(tool: JsonObject, param: string): RequestedWebSearch {
  const filters = objectIn(tool['filters'], `${param}.filters`);
  const size = tool['search_context_size'];
  return {
    kind: 'web_search',
    params: [param],
    limit: (typeof size === 'string' ? SIZES[size] : undefined) ?? PAGES,
    allowedDomains: [
      ...textsIn(filters?.['allowed_domains'], `${param}.filters.allowed_domains`),
      ...textsIn(tool['allowed_domains'], `${param}.allowed_domains`),
    ],
    blockedDomains: [
      ...textsIn(filters?.['blocked_domains'], `${param}.filters.blocked_domains`),
      ...textsIn(tool['blocked_domains'], `${param}.blocked_domains`),
    ],
    maxUses: wholeIn(tool['max_uses'], `${param}.max_uses`, 1_000),
  };
}

/** The name of a server that has none: where it is. */
export const labelOf = (url: string): string => new URL(url).host.replaceAll(/[^A-Za-z0-9_-]/g, '-').slice(0, 64);

/** The responses style: `{type, remote_mcp: {url, auth_token, timeout}}`. Calls need no approval. */
function readRemoteMcp(tool: JsonObject, param: string): RequestedMcpServer {
  const server = tool['remote_mcp'] as { url: string; auth_token?: string | null; timeout?: number | null };
  const { url, auth_token: token, timeout } = server;
  return requestedServer({ params: [param], label: labelOf(url), url, token }, `${param}.remote_mcp`, { timeout });
}

/** The native form. A connector of the vendor's own has no address, and only the vendor knows it. */
function readMcp(tool: JsonObject, param: string): RequestedMcpServer | undefined {
  const { server_url: url, server_label: label, authorization: token, timeout } = tool;
  if (url === undefined || url === null) return undefined;
  if (typeof label !== 'string' || !LABEL.test(label))
    throw wrong(`${param}.server_label`, '1 to 64 letters, digits, "_", "-" or "."');
  if (typeof url !== 'string' || !isParsableUrl(url)) throw wrong(`${param}.server_url`, 'an http or https URL');
  const allowed = tool['allowed_tools'];
  const filter: JsonObject = isJsonObject(allowed) ? allowed : { tool_names: allowed ?? null };
  const names = filter['tool_names'];
  return requestedServer({ params: [param], label, url, token }, param, {
    timeout,
    headers: tool['headers'],
    allowedTools: names == null ? undefined : textsIn(names, `${param}.allowed_tools`),
    readOnly: filter['read_only'] === true,
    approval: readApproval(tool['require_approval'], `${param}.require_approval`),
  });
}

const NEVER: ApprovalRule = { otherwise: 'never', except: [] };

function readApproval(sent: unknown, param: string): ApprovalRule {
  if (sent === undefined || sent === null || sent === 'always') return { otherwise: 'always', except: [] };
  if (sent === 'never') return NEVER;
  if (!isJsonObject(sent)) throw wrong(param, '"always", "never", or an object of tools for each');
  const never = objectIn(sent['never'], `${param}.never`);
  if (never) return { otherwise: 'always', ...excepted(never, `${param}.never`) };
  return { otherwise: 'never', ...excepted(objectIn(sent['always'], `${param}.always`), `${param}.always`) };
}

const excepted = (filter: JsonObject | undefined, param: string): Omit<ApprovalRule, 'otherwise'> => ({
  except: textsIn(filter?.['tool_names'], `${param}.tool_names`),
  exceptReadOnly: filter?.['read_only'] === true,
});

/** Puts together what every style says of a server, and checks it. */
export function requestedServer(
  server: {
    readonly params: readonly string[];
    readonly label: string;
    readonly url: unknown;
    readonly token?: unknown;
  },
  param: string,
  settings: {
    readonly timeout?: unknown;
    readonly headers?: unknown;
    readonly allowedTools?: readonly string[] | undefined;
    readonly readOnly?: boolean;
    readonly approval?: ApprovalRule;
  },
): RequestedMcpServer {
  const { params, label, url, token } = server;
  if (typeof url !== 'string' || !isParsableUrl(url)) throw wrong(`${param}.url`, 'an http or https URL');
  if (token !== undefined && token !== null && !(typeof token === 'string' && TOKEN.test(token)))
    throw wrong(`${param}.authorization`, 'printable ASCII characters, 8192 at most');
  const seconds = wholeIn(settings.timeout, `${param}.timeout`, Number.MAX_SAFE_INTEGER) ?? MCP_SECONDS;
  return {
    kind: 'mcp',
    params,
    label,
    url,
    token: typeof token === 'string' ? token : undefined,
    headers: readHeaders(settings.headers, `${param}.headers`, typeof token === 'string'),
    timeoutMs: Math.min(seconds, MOST_MCP_SECONDS) * 1000,
    allowedTools: settings.allowedTools,
    readOnly: settings.readOnly ?? false,
    approval: settings.approval ?? NEVER,
  };
}

function readHeaders(sent: unknown, param: string, hasToken: boolean): Readonly<Record<string, string>> | undefined {
  const headers = objectIn(sent, param);
  if (!headers) return undefined;
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name) || typeof value !== 'string' || !/^[\x20-\x7e]{0,8192}$/.test(value))
      throw wrong(param, 'an object of header names and printable ASCII texts');
    if (hasToken && /^authorization$/i.test(name)) throw wrong(`${param}.${name}`, 'left out: authorization is given');
    if (OWN_HEADERS.test(name)) throw wrong(`${param}.${name}`, 'left out: the gateway sets it');
  }
  return headers as Readonly<Record<string, string>>;
}
