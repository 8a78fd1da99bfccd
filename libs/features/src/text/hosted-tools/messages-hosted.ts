import { isJsonObject, isParsableUrl, type JsonObject, type MessagesRequest, toolName } from '#contracts';
import { asJson } from '../json-object.js';
import {
  type HostedReference,
  type HostedStyle,
  labelOf,
  readHostedTool,
  type RequestedMcpServer,
  requestedServer,
  type RequestedTool,
  textsIn,
  wrong,
} from './requested-tools.js';
import { withOwnLabels, withoutListed } from './responses-hosted.js';

const TOOLSET = 'mcp_toolset';

/** `mcp_servers` of the style: `{type: url, url, name, authorization_token, tool_configuration}`. */
function readServer(server: JsonObject, param: string): RequestedMcpServer | undefined {
  const { url, name, authorization_token: token, tool_configuration: sent } = server;
  const settings: JsonObject = isJsonObject(sent) ? sent : {};
  if (settings['enabled'] === false) return undefined;
  if (typeof url !== 'string' || !isParsableUrl(url)) throw wrong(`${param}.url`, 'an http or https URL');
  const label = typeof name === 'string' && name !== '' ? name.slice(0, 64) : labelOf(url);
  const allowed = settings['allowed_tools'];
  return requestedServer({ params: [param], label, url, token }, param, {
    timeout: server['timeout'],
    allowedTools: allowed == null ? undefined : textsIn(allowed, `${param}.tool_configuration.allowed_tools`),
  });
}

/** The newer form names the tools of a server in an entry of `tools`: `{type: mcp_toolset, mcp_server_name, configs}`. */
function refinedBy(
  requested: RequestedMcpServer,
  toolsets: readonly (readonly [string, JsonObject])[],
): RequestedMcpServer {
  const [param, toolset] = toolsets.find(([, { mcp_server_name: name }]) => name === requested.label) ?? [];
  if (param === undefined || !toolset) return requested;
  const { default_config: preset, configs: sent } = toolset;
  const isOffered = !(isJsonObject(preset) && preset['enabled'] === false);
  const configs = Object.entries(isJsonObject(sent) ? sent : {});
  const enabled = configs.flatMap(([name, config]) =>
    isJsonObject(config) && (config['enabled'] ?? isOffered) === true ? [name] : [],
  );
  const params = [...requested.params, param];
  return isOffered ? { ...requested, params } : { ...requested, params, allowedTools: enabled };
}

function find({ tools, mcp_servers: servers }: MessagesRequest): readonly RequestedTool[] {
  const listed = (tools ?? []).map((tool, index) => [`tools[${index}]`, asJson(tool)] as const);
  const toolsets = listed.filter(([, { type }]) => type === TOOLSET);
  const requestedTools = listed.flatMap(([param, tool]) => readHostedTool(tool, param) ?? []);
  const remote = (servers ?? []).flatMap((server, index) => readServer(server, `mcp_servers[${index}]`) ?? []);
  // The whole list is one use of the vendor's.
  const named = remote.map((requested) =>
    refinedBy({ ...requested, params: [...requested.params, 'mcp_servers'] }, toolsets),
  );
  return withOwnLabels([...requestedTools, ...named]);
}

/** The choice names a tool by its own name. */
function forcedBy({ tools, tool_choice: choice }: MessagesRequest): HostedReference[] {
  if (choice?.type !== 'tool') return [];
  const tool = (tools ?? []).find((each) => each.type != null && each.type !== 'custom' && each.name === choice.name);
  const kind = toolName(tool?.type ?? choice.name);
  return kind === 'web_search' || kind === 'file_search' ? [{ kind }] : [];
}

/** The messages style: `web_search_20250305`, `mcp_servers`, and the tools of the responses style as they are there. */
export const messagesHosted: HostedStyle<MessagesRequest> = {
  find,
  without: (body, requestedTools) => {
    const forced = forcedBy(body);
    const { tools: _tools, mcp_servers: _servers, tool_choice: choice, ...rest } = body;
    const isServer = (requested: RequestedTool): boolean => requested.params.includes('mcp_servers');
    const servers = requestedTools.some(isServer) ? undefined : body.mcp_servers;
    const tools = withoutListed(body.tools, requestedTools);
    const stripped = {
      ...rest,
      ...(tools && { tools }),
      ...(servers && { mcp_servers: servers }),
      ...(choice && forced.length === 0 && { tool_choice: choice }),
    };
    return { body: stripped, forced, only: undefined };
  },
  maxCalls: () => undefined,
  showsResults: () => ['file_search', 'web_search', 'mcp'],
  approvals: () => [],
};
