import {
  type HostedKind,
  isJsonObject,
  type JsonObject,
  type ResponsesRequest,
  type ResponsesTool,
  toolName,
} from '#contracts';
import { asJson } from '../json-object.js';
import {
  type ApprovalAnswer,
  type HostedReference,
  type HostedStyle,
  readHostedTool,
  type RequestedMcpServer,
  type RequestedTool,
  type WithoutHosted,
} from './requested-tools.js';

/** Servers of one name get numbers, so that items of the answer distinguish them. */
export function withOwnLabels(requestedTools: readonly RequestedTool[]): readonly RequestedTool[] {
  const seen = new Map<string, number>();
  return requestedTools.map((requested) => {
    if (requested.kind !== 'mcp') return requested;
    const nth = (seen.get(requested.label) ?? 0) + 1;
    seen.set(requested.label, nth);
    return nth === 1 ? requested : ({ ...requested, label: `${requested.label}-${nth}` } satisfies RequestedMcpServer);
  });
}

/** The tools of a list that the gateway could run, in the form of the responses style. */
export const toolsListed = (tools: readonly object[] | null | undefined): readonly RequestedTool[] =>
  (tools ?? []).flatMap((tool, index) => readHostedTool(asJson(tool), `tools[${index}]`) ?? []);

/** A list of tools without those that stand at these places. */
export const withoutListed = <Tool>(
  tools: readonly Tool[] | null | undefined,
  requestedTools: readonly RequestedTool[],
): Tool[] | undefined => {
  const taken = new Set(requestedTools.flatMap(({ params }) => params));
  const left = (tools ?? []).filter((_tool, index) => !taken.has(`tools[${index}]`));
  return left.length > 0 ? left : undefined;
};

/** What an entry of a choice names, when it is a tool that the gateway could run. */
function referenceOf(sent: unknown): HostedReference | undefined {
  if (!isJsonObject(sent)) return undefined;
  const { type, server_label: label, name } = sent as JsonObject;
  const kind = typeof type === 'string' ? toolName(type).replace(/_preview$/, '') : '';
  if (kind === 'file_search' || kind === 'web_search') return { kind };
  if (kind !== 'mcp') return undefined;
  return {
    kind,
    label: typeof label === 'string' ? label : undefined,
    name: typeof name === 'string' ? name : undefined,
  };
}

/** A `tool_choice` of the responses or chat style without what it says of tools that the gateway runs. */
export function splitChoice(choice: unknown): {
  readonly choice: unknown;
  readonly forced: readonly HostedReference[];
  readonly only: readonly HostedReference[] | undefined;
} {
  const single = referenceOf(choice);
  if (single) return { choice: 'auto', forced: [single], only: undefined };
  const list = allowedTools(choice);
  if (!list) return { choice, forced: [], only: undefined };
  const hosted = list.entries.flatMap((entry) => referenceOf(entry) ?? []);
  const others = list.entries.filter((entry) => referenceOf(entry) === undefined);
  return {
    // Where only tools of the gateway's are allowed, none of the caller's may be called.
    choice: others.length > 0 ? list.with(others) : 'none',
    forced: list.mode === 'required' ? hosted : [],
    only: hosted,
  };
}

interface AllowedList {
  readonly mode: unknown;
  readonly entries: readonly unknown[];
  readonly with: (entries: readonly unknown[]) => unknown;
}

/** The list stands in the choice itself in the responses style, and one deeper in the chat style. */
function allowedTools(choice: unknown): AllowedList | undefined {
  if (!isJsonObject(choice) || choice['type'] !== 'allowed_tools') return undefined;
  const inner = choice['allowed_tools'];
  const holder = isJsonObject(inner) ? inner : choice;
  const { mode, tools } = holder as { mode?: unknown; tools?: unknown };
  const entries: readonly unknown[] = Array.isArray(tools) ? tools : [];
  return {
    mode,
    entries,
    with: (left) =>
      holder === choice ? { ...choice, tools: left } : { ...choice, allowed_tools: { ...holder, tools: left } },
  };
}

/** The calls whose approval the input holds, without those that were made since. */
function approvalsIn({ input }: ResponsesRequest): ApprovalAnswer[] {
  if (typeof input === 'string') return [];
  const items = input.map((item) => asJson(item));
  const made = new Set(items.map((item) => (item['type'] === 'mcp_call' ? item['approval_request_id'] : undefined)));
  const answers = items.filter(({ type }) => type === 'mcp_approval_response');
  const idsOf = (word: boolean) =>
    answers.flatMap(({ approve, approval_request_id: id }) => (approve === word ? [id] : []));
  const approved = new Set(idsOf(true));
  // A refusal beside an approval counts, and a request that the history has twice is one call.
  const over = new Set([...made, ...idsOf(false)]);
  return items.flatMap((item) => {
    const { type, id, server_label: label, name, arguments: json } = item;
    if (type !== 'mcp_approval_request' || !approved.has(id) || over.has(id)) return [];
    if (typeof id !== 'string' || typeof label !== 'string' || typeof name !== 'string') return [];
    over.add(id);
    return [{ requestId: id, label, name, arguments: typeof json === 'string' ? json : '{}' }];
  });
}

const SEARCHES = ['file_search', 'web_search'] as const satisfies readonly HostedKind[];

export const responsesHosted: HostedStyle<ResponsesRequest> = {
  find: ({ tools }) => withOwnLabels(toolsListed(tools)),
  without: (body, requestedTools): WithoutHosted<ResponsesRequest> => {
    const { choice, forced, only } = splitChoice(body.tool_choice);
    const { tools: _tools, tool_choice: _choice, ...rest } = body;
    const tools: ResponsesTool[] | undefined = withoutListed(body.tools, requestedTools);
    const stripped = { ...rest, ...(tools && { tools }), ...(choice != null && { tool_choice: choice }) };
    return { body: stripped as ResponsesRequest, forced, only };
  },
  maxCalls: ({ max_tool_calls: most }) => most ?? undefined,
  // Those of searches only where the request asks to see them.
  showsResults: ({ include }) => [
    'mcp',
    ...SEARCHES.filter((kind) => include?.includes(`${kind}_call.results`) === true),
  ],
  approvals: approvalsIn,
};
