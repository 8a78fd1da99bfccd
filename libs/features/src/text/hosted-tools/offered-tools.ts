import type { FunctionTool, JsonObject, ListedTool } from '#contracts';
import {
  type HostedReference,
  isMeant,
  type RequestedFileSearch,
  type RequestedMcpServer,
  type RequestedTool,
  type RequestedWebSearch,
} from './requested-tools.js';
import { shortName } from '../tool-arguments.js';
import { HOW_TO_CITE } from './cited-text.js';

/** A tool that the gateway runs, as the model is offered it. */
export type OfferedTool =
  | { readonly kind: 'file_search'; readonly requested: RequestedFileSearch; readonly tool: FunctionTool }
  | { readonly kind: 'web_search'; readonly requested: RequestedWebSearch; readonly tool: FunctionTool }
  | {
      readonly kind: 'mcp';
      readonly requested: RequestedMcpServer;
      readonly listed: ListedTool;
      readonly tool: FunctionTool;
    };

/** What servers say of their tools, by the request for the server. */
export type ServerTools = ReadonlyMap<RequestedMcpServer, readonly ListedTool[]>;

const LONGEST_DESCRIPTION = 4_000;
const DEEPEST_SCHEMA = 32;

const query = (description: string): JsonObject => ({
  type: 'object',
  properties: { query: { type: 'string', description } },
  required: ['query'],
  additionalProperties: false,
});

const FILE_SEARCH = {
  description: `Searches the content of the files that the user uploaded, and returns passages. ${HOW_TO_CITE}`,
  parameters: query('What to look for, in the words that a passage about it would use.'),
};
const WEB_SEARCH = {
  description: `Searches the internet, and returns pages with what they say. ${HOW_TO_CITE}`,
  parameters: query('What to look for, as one would type it into a search engine.'),
};

/** A name of a function that every vendor takes. */
const functionName = (name: string): string => shortName(name.replaceAll(/[^A-Za-z0-9_-]/g, '_'), name);

/** A server may say anything of what its tool takes; a vendor refuses a request over what is no schema of an object. */
function schemaOf({ inputSchema }: ListedTool): JsonObject {
  const isOfObject = inputSchema['type'] === 'object' && isShallow(inputSchema, DEEPEST_SCHEMA);
  if (!isOfObject) return { type: 'object' };
  const { $schema: _dialect, ...schema } = inputSchema;
  return { properties: {}, ...schema };
}

const isShallow = (value: unknown, depth: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (depth > 0 && Object.values(value).every((entry) => isShallow(entry, depth - 1)));

const changesNothing = ({ annotations }: ListedTool): boolean => annotations?.['readOnlyHint'] === true;

/** Whether the caller lets a tool of a server be used at all. */
export function isAllowed({ allowedTools, readOnly }: RequestedMcpServer, tool: ListedTool): boolean {
  if (allowedTools && !allowedTools.includes(tool.name)) return false;
  return !readOnly || changesNothing(tool);
}

/** Whether a call waits for the caller's word. */
export function needsApproval({ approval }: RequestedMcpServer, tool: ListedTool): boolean {
  const { otherwise, except, exceptReadOnly = false } = approval;
  const isExcepted = except.includes(tool.name) || (exceptReadOnly && changesNothing(tool));
  return isExcepted ? otherwise === 'never' : otherwise === 'always';
}

/**
 * The functions that stand for tools of the gateway, under names that no function of the caller's has.
 *
 * @param only what the caller's choice leaves; undefined: all.
 */
export function offeredTools(
  requestedTools: readonly RequestedTool[],
  servers: ServerTools,
  taken: readonly string[],
  only: readonly HostedReference[] | undefined,
): readonly OfferedTool[] {
  const names = new Set(taken);
  const own = (name: string, otherwise: string): string => {
    let free = names.has(name) ? functionName(otherwise) : name;
    for (let nth = 2; names.has(free); nth += 1) free = functionName(`${otherwise}_${nth}`);
    names.add(free);
    return free;
  };
  const isLeft = (requested: RequestedTool, name?: string): boolean =>
    !only || only.some((each) => isMeant(requested, each) && (each.name === undefined || each.name === name));
  return requestedTools.flatMap((requested): OfferedTool[] => {
    if (requested.kind !== 'mcp')
      return isLeft(requested) ? [searchTool(requested, own(requested.kind, `gateway_${requested.kind}`))] : [];
    const listed = (servers.get(requested) ?? []).filter(
      (tool) => isAllowed(requested, tool) && isLeft(requested, tool.name),
    );
    return listed.map((tool) => {
      const name = own(functionName(tool.name), `${requested.label}__${tool.name}`);
      const description = tool.description.slice(0, LONGEST_DESCRIPTION);
      const offered: FunctionTool = { name, description, parameters: schemaOf(tool), runHere: 'mcp' };
      return { kind: 'mcp', requested, listed: tool, tool: offered };
    });
  });
}

function searchTool(requested: RequestedFileSearch | RequestedWebSearch, name: string): OfferedTool {
  return requested.kind === 'file_search'
    ? { kind: requested.kind, requested, tool: { name, ...FILE_SEARCH, runHere: requested.kind } }
    : { kind: requested.kind, requested, tool: { name, ...WEB_SEARCH, runHere: requested.kind } };
}

/** The names of the functions that a choice names. */
export const namesOf = (offered: readonly OfferedTool[], references: readonly HostedReference[]): readonly string[] =>
  offered.flatMap((each) =>
    references.some(
      (reference) =>
        isMeant(each.requested, reference) &&
        (reference.name === undefined || (each.kind === 'mcp' && each.listed.name === reference.name)),
    )
      ? [each.tool.name]
      : [],
  );
